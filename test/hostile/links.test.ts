import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { lockFile } from '../../src/config/edit/lock-file.ts';
import { checkSummaryFile, writeSummary } from '../../src/operations/write-summary.ts';
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

test('a summary follows a link inside its own folder, and none out of it', async () => {
  await symlink(at('private/file'), at('clone/out.md'));
  await expect(checkSummaryFile(at('clone/out.md'))).rejects.toMatchObject({
    code: 'summary_not_written',
    exit: 2,
    message: expect.stringContaining('clone/out.md: it is a link out of its folder'),
  });
  expect(await readFile(at('private/file'), 'utf8')).toBe('private\n');
  await writeFile(at('clone/made.md'), 'former');
  await symlink('made.md', at('clone/in.md'));
  await writeSummary(await checkSummaryFile(at('clone/in.md')), 'text');
  expect(await readFile(at('clone/made.md'), 'utf8')).toBe('text');
  // One to a missing file is replaced.
  await symlink(at('private/missing'), at('clone/dangling.md'));
  await writeSummary(await checkSummaryFile(at('clone/dangling.md')), 'text');
  expect((await readdir(at('private'))).sort()).toEqual(['file', 'pipe']);
});
