import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listSizes, localDiskUse } from '../../../src/operations/snapshots/sizes.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { storeSnapshot } from '../../helpers/storage/stored-snapshot.ts';

test('the sizes are those of the eight newest originals that can be read, oldest first', async () => {
  await using folder = await temporaryFolder();
  const directory = join(folder.path, 'work');
  for (let index = 1; index <= 10; index++) {
    const day = String(index).padStart(2, '0');
    const created_at = `2026-11-${day}T04:00:00.000Z`;
    const content = 'x\n'.repeat(index);
    await storeSnapshot(directory, { target: 'app', id: `aaaaaa${day}`, created_at, content, sanitized: index === 5 });
  }
  const context = testContext({ settings: { working_directory: directory } });
  const { key } = await damagedManifest(directory);
  expect(key).toContain('20261109');
  const sizes = await listSizes(context, ['app', 'none']);
  // Without the one that is damaged and the sanitized one.
  expect([...sizes]).toEqual([
    ['app', [1, 2, 3, 4, 6, 7, 8, 10].map((count) => count * 2)],
    ['none', []],
  ]);
});

test('what a target takes on disk has shared objects once, and nothing of what cannot be read', async () => {
  await using folder = await temporaryFolder();
  const directory = join(folder.path, 'work');
  const store = (day: string, content: string) =>
    storeSnapshot(directory, {
      target: 'app',
      id: `aaaaaa${day}`,
      created_at: `2026-11-${day}T04:00:00.000Z`,
      content,
      sanitized: false,
    });
  const context = testContext({ settings: { working_directory: directory } });
  expect(await localDiskUse(context, 'app')).toBe(0);
  await store('01', 'one\n');
  const one = await localDiskUse(context, 'app');
  expect(one).toBeGreaterThan(0);
  await store('02', 'one\n');
  expect(await localDiskUse(context, 'app')).toBe(one);
  await store('03', 'another\n'.repeat(1000));
  expect(await localDiskUse(context, 'app')).toBeGreaterThan(one ?? 0);
});

async function damagedManifest(directory: string): Promise<{ key: string }> {
  const { createLocalRepository } = await import('../../../src/repository/local-repository.ts');
  const repository = createLocalRepository({ directory, report: () => {} });
  const [, second] = await repository.files('app');
  if (!second) throw new Error('no second snapshot');
  await writeFile(join(directory, second.key), '{');
  return second;
}
