import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { homeAt } from '../../../../src/engines/shared/server/server-home.ts';
import { temporaryFolder } from '../../../helpers/postgres/postgres-server.ts';

it('files of a server are written anew, and through no link that its account has put there', async () => {
  await using folder = await temporaryFolder();
  const elsewhere = join(folder.path, 'elsewhere');
  writeFileSync(elsewhere, 'kept');
  symlinkSync(elsewhere, join(folder.path, 'link'));
  const home = homeAt(folder.path, undefined);
  await expect(home.write('link', 'changed')).rejects.toMatchObject({ code: 'ELOOP' });
  expect(readFileSync(elsewhere, 'utf8')).toBe('kept');
  await home.write('file', 'a long content');
  await home.write('file', 'short');
  expect(await home.read('file')).toBe('short');
  expect(statSync(join(folder.path, 'file')).mode & 0o777).toBe(0o600);
});
