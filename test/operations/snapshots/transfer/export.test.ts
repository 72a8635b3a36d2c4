import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { diff } from '../../../../src/operations/snapshots/diff/diff.ts';
import { listSnapshots } from '../../../../src/operations/snapshots/snapshots.ts';
import { exportSnapshot } from '../../../../src/operations/snapshots/transfer/export.ts';
import { importSnapshot } from '../../../../src/operations/snapshots/transfer/import.ts';
import { verify } from '../../../../src/operations/snapshots/verify/verify.ts';
import type { Manifest } from '../../../../src/repository/manifest/manifest.ts';
import { type Machine, machine } from '../../../helpers/storage/machine.ts';
import { storeTables } from '../../../helpers/storage/stored-snapshot.ts';

const profile = { provider: 'minio', bucket: 'none', endpoint: 'http://127.0.0.1:1' } as const;
const targets = { app: { snapshot: {} }, other: { snapshot: {} } };
let here: Machine;
let there: Machine;
let manifest: Manifest;

beforeEach(async () => {
  [here, there] = [await machine({ profile, targets }), await machine({ profile, targets })];
  const contents = { items: '1\tone\n', large: randomBytes(3_000_000), twin: '1\tone\n' };
  const named = { target: 'app', id: 'aaaa0000', created_at: '2026-01-01T00:00:00.000Z', note: 'to hand over' };
  manifest = await storeTables(here.directory, { ...named, contents });
});

afterEach(async () => {
  for (const one of [here, there]) await one[Symbol.asyncDispose]();
});

const exported = (): string => join(here.directory, 'app.zip');

test('a snapshot goes as one file to another machine, as it was', async () => {
  const { bytes } = await exportSnapshot(here.context, { target: 'app', file: exported() });
  expect(bytes).toBeGreaterThan(3_000_000);
  expect(await importSnapshot(there.context, { file: exported() })).toMatchObject({ target: 'app', id: 'aaaa0000' });
  expect(await there.repository.list('app')).toEqual([manifest]);
  expect(await verify(there.context, { target: 'app' })).toMatchObject({ ok: true, files: 3 });
  expect(await importSnapshot(there.context, { file: exported() })).toMatchObject({ id: 'aaaa0000' });
  expect((await listSnapshots(there.context, 'app')).snapshots).toHaveLength(1);
});

test('the file is a plain zip: unzip and zstd get at everything', async () => {
  await exportSnapshot(here.context, { target: 'app', file: exported() });
  const folder = join(here.directory, 'unzipped');
  mkdirSync(folder);
  execFileSync('python3', ['-m', 'zipfile', '-e', exported(), folder]);
  expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))).toEqual(manifest);
  expect(readdirSync(join(folder, 'objects'), { recursive: true }).filter((name) => name.length > 3)).toHaveLength(2);
});

test('equal snapshots give equal files, and no file is overwritten', async () => {
  await exportSnapshot(here.context, { target: 'app', file: exported() });
  await exportSnapshot(here.context, { target: 'app', file: `${exported()}2` });
  expect(readFileSync(exported()).equals(readFileSync(`${exported()}2`))).toBe(true);
  const again = exportSnapshot(here.context, { target: 'app', file: exported() });
  await expect(again).rejects.toMatchObject({ code: 'file_exists', exit: 5 });
});

test('it may become a snapshot of another target', async () => {
  await exportSnapshot(here.context, { target: 'app', file: exported() });
  await importSnapshot(there.context, { file: exported(), target: 'other' });
  expect((await listSnapshots(there.context, 'other')).snapshots).toMatchObject([{ id: 'aaaa0000' }]);
  const nowhere = importSnapshot(there.context, { file: exported(), target: 'nowhere' });
  await expect(nowhere).rejects.toMatchObject({ code: 'target_unknown', exit: 2 });
});

test('a file that is damaged, another one, or none is told of, and nothing is taken in', async () => {
  await exportSnapshot(here.context, { target: 'app', file: exported() });
  const whole = readFileSync(exported());
  const middle = Math.floor(whole.length / 2);
  whole[middle] = (whole[middle] ?? 0) ^ 1;
  writeFileSync(exported(), whole);
  const cases: [string, string][] = [
    [exported(), 'snapshot_damaged'],
    [join(here.directory, 'objects'), 'archive_not_understood'],
    [join(here.directory, 'cut.zip'), 'archive_not_understood'],
    [join(here.directory, 'none.zip'), 'file_missing'],
  ];
  writeFileSync(join(here.directory, 'cut.zip'), whole.subarray(0, middle));
  for (const [file, code] of cases) {
    await expect(importSnapshot(there.context, { file })).rejects.toMatchObject({ code });
  }
  expect(await there.repository.list('app')).toEqual([]);
});

function fileOf({ tables: [table] }: Manifest) {
  if (!table) throw new Error('it has a table');
  return table.file;
}

test('a damaged snapshot is not exported', async () => {
  writeFileSync(here.repository.object(fileOf(manifest)).path, randomBytes(100));
  const exporting = exportSnapshot(here.context, { target: 'app', file: exported() });
  await expect(exporting).rejects.toMatchObject({ code: 'snapshot_damaged' });
  expect(existsSync(exported())).toBe(false);
});

test('a diff tells which tables came, went and changed, from the manifests alone', async () => {
  const contents = { items: '1\tone\n2\ttwo\n', large: randomBytes(10), fresh: '1\n' };
  await storeTables(here.directory, {
    target: 'app',
    id: 'bbbb1111',
    created_at: '2026-01-02T00:00:00.000Z',
    contents,
  });
  const result = await diff(here.context, { target: 'app', a: 1, b: 0 });
  expect(result).toMatchObject({ from: { id: 'aaaa0000' }, to: { id: 'bbbb1111' }, destination: null, unchanged: 0 });
  expect(result.changes).toMatchObject([
    { table: 'public.fresh', change: 'added', from: null, to: { rows: 1, bytes: 2 } },
    { table: 'public.items', change: 'changed', from: { rows: 1, bytes: 6 }, to: { rows: 2, bytes: 12 } },
    { table: 'public.large', change: 'changed' },
    { table: 'public.twin', change: 'gone', from: { rows: 1, bytes: 6 }, to: null },
  ]);
  expect(await diff(here.context, { target: 'app', a: 0, b: 0 })).toMatchObject({ changes: [], unchanged: 3 });
});
