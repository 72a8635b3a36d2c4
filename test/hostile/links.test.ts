import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createLogFile } from '../../src/cli/printers/log.ts';
import { lockFile } from '../../src/config/edit/lock-file.ts';
import { readHistory } from '../../src/operations/history/history-file.ts';
import { recordCrash } from '../../src/operations/record-crash.ts';
import { checkSummaryFile, writeSummary } from '../../src/operations/write-summary.ts';
import type { RunEvent } from '../../src/results/events.ts';
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

test.for(['private/file', 'private/missing', 'private/pipe'])('no log is written through a link to %s', async (to) => {
  await mkdir(at('clone/logs'));
  await symlink(at(to), at('clone/logs/tool.log'));
  // A reader, without which no system opens a pipe to write.
  const reader = openSync(at('private/pipe'), constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(reader));
  expect(writeLog()).toMatchObject([{ code: 'log_not_written' }, { code: 'other' }]);
  const { hint } = recordCrash({ error: new Error('a'), file: at('clone/logs/tool.log'), at: new Date(0) });
  expect(hint).toBe('--debug shows the details.');
  expect(await readFile(at('private/file'), 'utf8')).toBe('private\n');
  expect((await readdir(at('private'))).sort()).toEqual(['file', 'pipe']);
});

test('no log is written to a pipe', async () => {
  await mkdir(at('clone/logs'));
  execFileSync('mkfifo', [at('clone/logs/tool.log')]);
  expect(writeLog()).toMatchObject([{ code: 'log_not_written' }, { code: 'other' }]);
  const reader = openSync(at('clone/logs/tool.log'), constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(reader));
  expect(writeLog()).toMatchObject([{ code: 'log_not_written' }, { code: 'other' }]);
});

test('a folder of logs that is a link is used outside of a repository only', async () => {
  await symlink(at('private'), at('clone/logs'));
  expect(writeLog()).toMatchObject([{ code: 'other' }]);
  await rm(at('private/tool.log'));
  await mkdir(at('.git'));
  expect(writeLog()).toMatchObject([{ code: 'log_not_written' }, { code: 'other' }]);
  expect((await readdir(at('private'))).sort()).toEqual(['file', 'pipe']);
});

test('a history that is a pipe is empty', () => {
  const context = { configuration: { settings: { working_directory: at('clone') } } } as Parameters<
    typeof readHistory
  >[0];
  execFileSync('mkfifo', [at('clone/history.jsonl')]);
  expect(readHistory(context)).toMatchObject({ entries: [] });
});

/** Returns the events that the person sees. */
function writeLog(): RunEvent[] {
  const heard: RunEvent[] = [];
  const report = (event: RunEvent) => heard.push(event);
  const log = createLogFile({ directory: at('clone'), trace: false, clock: () => new Date(0), report });
  log.report({ event: 'warning', code: 'other', message: 'text' });
  return heard;
}
