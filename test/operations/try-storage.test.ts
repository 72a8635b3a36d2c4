import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tryStore } from '../../src/operations/try-storage.ts';
import { createFolder } from '../../src/snapshots/folder.ts';
import { temporaryFolder } from '../helpers/postgres-server.ts';

test('a store that is tried holds nothing more than before', async () => {
  await using folder = await temporaryFolder();
  const store = createFolder(folder.path);
  await tryStore(store);
  expect(await readdir(join(folder.path, 'probe'))).toEqual([]);
});

test('one that gives back something else is refused, and its probe removed', async () => {
  await using folder = await temporaryFolder();
  const store = { ...createFolder(folder.path), read: async () => '<html>' };
  await expect(tryStore(store)).rejects.toMatchObject({ code: 'storage_unreliable' });
  expect(await readdir(join(folder.path, 'probe'))).toEqual([]);
});
