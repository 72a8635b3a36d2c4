import { execFileSync } from 'node:child_process';
import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { lockFile } from '../../src/config/edit/lock-file.ts';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';

/** A folder of a cloned repository, beside a private one. */
let folder: string;
const at = (...path: string[]) => join(folder, ...path);

beforeEach(async () => {
  const temporary = await temporaryFolder();
  onTestFinished(() => temporary[Symbol.asyncDispose]());
  folder = temporary.path;
  await mkdir(at('clone'));
  await mkdir(at('private'));
  await writeFile(at('private/file'), 'private\n');
  // So old that a lock of another host would have expired.
  await utimes(at('private/file'), 1, 1);
  execFileSync('mkfifo', [at('private/pipe')]);
});

test.for([
  ['a pipe', 'private/pipe'],
  ['a device', '/dev/zero'],
  ['a file', 'private/file'],
  ['nothing', 'private/missing'],
] as const)('a lock that is a link to %s counts as held and is not read', async ([, to]) => {
  const lock = at('clone/sanitize.lock.yml.lock');
  await symlink(to.startsWith('/') ? to : at(to), lock);
  // The time limit has passed at the second look.
  vi.spyOn(Date, 'now').mockReturnValueOnce(0);
  await expect(lockFile(at('clone/sanitize.lock.yml'))).rejects.toMatchObject({
    code: 'configuration_busy',
    hint: `If none is, remove ${lock}`,
  });
  expect(await readdir(at('clone'))).toEqual(['sanitize.lock.yml.lock']);
});

test('a lock that is a pipe counts as held and is not read', async () => {
  execFileSync('mkfifo', [at('clone/tool.yml.lock')]);
  vi.spyOn(Date, 'now').mockReturnValueOnce(0);
  await expect(lockFile(at('clone/tool.yml'))).rejects.toMatchObject({ code: 'configuration_busy' });
});
