import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createFolder } from '../../../src/repository/store/folder.ts';
import { testStore } from '../../contracts/store.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';

describe('a folder', () =>
  testStore({ create: async (folder) => createFolder(join(folder, 'store')), seesBytes: false }));

test('remains of a killed transfer are not listed, and are removed when old', async () => {
  await using folder = await temporaryFolder();
  const store = createFolder(folder.path);
  await store.write('objects/aa/whole', 'whole');
  await writeFile(join(folder.path, 'objects/aa/half.123.tmp'), 'half');
  expect((await store.list('objects')).map(({ key }) => key)).toEqual(['objects/aa/whole']);
  await store.removeUnfinished(new Date(Date.now() - 60_000));
  expect((await readdir(join(folder.path, 'objects/aa'))).sort()).toEqual(['half.123.tmp', 'whole']);
  await store.removeUnfinished(new Date(Date.now() + 60_000));
  expect(await readdir(join(folder.path, 'objects/aa'))).toEqual(['whole']);
});
