import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkSummaryFile, writeSummary } from '../../src/operations/write-summary.ts';
import { createFile, ownershipOf, replaceFile, writePrivateFile } from '../../src/runtime/write-file.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

test('a new file has the mode less the umask, a replaced one its own, and a private one is for its user only', async () => {
  await using folder = await temporaryFolder();
  const path = (name: string) => join(folder.path, name);
  await writeFile(path('own'), 'before');
  await chmod(path('own'), 0o604);
  const umask = process.umask(0o027);
  try {
    await createFile(path('created'), 'text', { mode: 0o666 });
    await replaceFile(path('replaced'), 'text', await ownershipOf(path('replaced'), 0o666));
    await replaceFile(path('own'), 'after', await ownershipOf(path('own'), 0o666));
    await writePrivateFile(path('folder/private'), 'text');
  } finally {
    process.umask(umask);
  }
  expect(
    await Promise.all(['created', 'replaced', 'own', 'folder/private', 'folder'].map((name) => modeOf(path(name)))),
  ).toEqual([0o640, 0o640, 0o604, 0o600, 0o700]);
  expect(await readFile(path('own'), 'utf8')).toBe('after');
  expect((await readdir(folder.path)).sort()).toEqual(['created', 'folder', 'own', 'replaced']);
});

test('a summary keeps the mode of the file that it replaces, and leaves no other file', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'made.md');
  await writeFile(path, 'before');
  await chmod(path, 0o600);
  await writeSummary(await checkSummaryFile(path), 'after');
  expect(await modeOf(path)).toBe(0o600);
  expect(await readFile(path, 'utf8')).toBe('after');
  expect(await readdir(folder.path)).toEqual(['made.md']);
});
