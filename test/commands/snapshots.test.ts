import { globSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { COMMANDS } from '../../src/commands/registry.ts';
import { localRunner } from '../../src/process/local.ts';
import type { Context, ContextOptions } from '../../src/runtime/context.ts';
import { storeSnapshot } from '../helpers/storage/stored-snapshot.ts';
import { ATTENDED, runWith, type TestedRun } from '../helpers/terminal/cli-host.ts';

let directory: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'commands-'));
  await storeSnapshot(directory, {
    target: 'app',
    id: 'aaaa0000',
    created_at: '2026-01-01T00:00:00.000Z',
    content: '1\told\n',
    note: 'the first',
  });
  await storeSnapshot(directory, {
    target: 'app',
    id: 'bbbb1111',
    created_at: '2026-01-02T00:00:00.000Z',
    content: '1\tnew\n2\tnew\n',
  });
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** The real commands and operations, over the snapshots above; nobody listens at the database's port. */
function tool(words: string[], change: Parameters<typeof runWith>[2] = {}): Promise<TestedRun> {
  return runWith(words, COMMANDS, { openContext, clock: () => new Date('2026-01-02T03:00:00Z'), ...change });
}

async function openContext({ report, signal, environment, clock }: ContextOptions): Promise<Context> {
  const url = 'postgres://app:hunter2@127.0.0.1:1/app';
  const targets = { app: { snapshot: { src_url: url, dst_url: `${url}_dev` } }, empty: { name: 'Nothing yet' } };
  const settings = { working_directory: directory, debug: false, override: {}, defaults: {}, storage_profiles: {} };
  return {
    configuration: { file: '/etc/tool.yml', settings: { ...settings, targets } as never, deferred: [] },
    report,
    signal,
    runner: localRunner({ environment: { ...environment, PATH: process.env.PATH }, report }),
    clock,
    environment,
  };
}

function lastLine(text: string): Record<string, unknown> {
  return JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
}

test('target lists the snapshots, newest first, with age and note', async () => {
  const { exit, stdout } = await tool(['target', 'app']);
  expect(exit).toBe(0);
  const [head, newest, oldest, ...rest] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^INDEX +ID +CREATED +AGE +KIND +SERVER +TABLES +ROWS +SIZE +ADDED +SIGNATURE +WHERE +NOTE$/);
  expect(newest).toMatch(
    /^ +0 +bbbb1111 +2026-01-0\d \d\d:\d\d[+-]\d\d(:\d\d)? +3 h ago +RAW +postgres 15.18 +1 +2 +12 B .* local$/,
  );
  expect(oldest).toMatch(/^ +1 +aaaa0000 .* local +the first$/);
  expect(rest).toEqual([]);
});

test('a target without snapshots has a hint to build one', async () => {
  expect((await tool(['target', 'empty'])).stdout).toBe(
    'Target empty has no snapshots yet. Build one with: tool build empty\n',
  );
});

test('target and targets print their table on a terminal, too', async () => {
  const terminal = ATTENDED;
  expect(await tool(['targets', '--no-check'], { terminal })).toMatchObject({
    opened: [],
    stdout: expect.stringContaining('Local mode'),
  });
  expect(await tool(['target', 'app'], { terminal })).toMatchObject({
    opened: [],
    stdout: expect.stringContaining('the '),
  });
});

test('targets --no-check connects to nothing; passwords are not shown', async () => {
  const { stdout } = await tool(['targets', '--no-check', '--json']);
  expect(lastLine(stdout)).toMatchObject({
    mode: 'local',
    targets: [
      { name: 'app', status: 'unchecked', src_url: 'postgres://app@127.0.0.1:1/app', snapshots: 2 },
      { name: 'empty', title: 'Nothing yet', status: 'unchecked', src_url: null, snapshots: 0 },
    ],
  });
  expect(stdout).not.toContain('hunter2');
});

test('verify reads every byte, by index and by id', async () => {
  expect((await tool(['verify', 'app', '1'])).stdout).toBe(
    'Snapshot 1 of app (aaaa0000 RAW) is intact: 1 file, 6 B read\n',
  );
  expect(lastLine((await tool(['verify', 'app', 'bbbb1111', '--json'])).stdout)).toMatchObject({
    event: 'done',
    command: 'verify',
    ok: true,
    snapshot: { index: 0 },
    problems: [],
  });
});

test('verify of a damaged snapshot exits with 1 and names the damage', async () => {
  for (const file of globSync(`${directory}/objects/*/*`)) truncateSync(file, 3);
  const { exit, stdout, stderr } = await tool(['verify', 'app', '--json']);
  expect(exit).toBe(1);
  expect(stderr).toContain('error: Snapshot 0 of app (bbbb1111) is damaged\n    public.items: ');
  expect(lastLine(stdout)).toMatchObject({ event: 'error', code: 'snapshot_damaged', exit: 1 });
});

test('rm removes nothing without a yes, and shows its plan', async () => {
  expect((await tool(['rm', 'app', '1'])).exit).toBe(5);
  const { exit, stdout } = await tool(['rm', 'app', '1', '--dry-run']);
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^Remove snapshot 1 of app \(aaaa0000 RAW\)\n(.*\n)+ {2}From +local\n {2}Frees +\d+ B, /);
  expect((await tool(['target', 'app'])).stdout).toContain('aaaa0000');
});

test('rm with a yes removes the snapshot that was named, and no other', async () => {
  const { exit, stdout } = await tool(['rm', 'app', 'aaaa0000', '--yes']);
  expect({ exit, stdout }).toEqual({
    exit: 0,
    stdout: expect.stringMatching(/^Removed snapshot 1 of app \(aaaa0000 RAW\)/),
  });
  const left = (await tool(['target', 'app'])).stdout;
  expect(left).toContain('bbbb1111');
  expect(left).not.toContain('aaaa0000');
});

test.each([
  ['target ap', 'target_unknown', 'Did you mean "app"?'],
  ['verify app 7', 'snapshot_missing', 'from 0 (the newest) to 1'],
  ['rm app cccc', 'snapshot_missing', 'tool target app'],
  ['load empty', 'snapshot_missing', 'tool build empty'],
  ['load app --source', 'flag_needs_flag', 'FILE.sql --source'],
  ['load app 0 --no-drop', 'flag_needs_flag', 'FILE.sql --no-drop'],
  ['load app missing.sql', 'file_missing', 'path'],
])('"%s" is wrong usage: %s', async (line, code, hint) => {
  const { exit, stdout } = await tool([...line.split(' '), '--json', '--yes']);
  const last = lastLine(stdout);
  expect(exit).toBe(2);
  expect(last.error ?? last).toMatchObject({ code, exit: 2, hint: expect.stringContaining(hint) });
});

test.each([['build app'], ['load app fixtures.sql --yes'], ['undo app --yes']])(
  '"%s" exits with 4 where the server does not answer',
  async (line) => {
    writeFileSync(join(directory, 'fixtures.sql'), 'select 1;');
    const { exit, stdout, stderr } = await tool(line.split(' '), { cwd: directory });
    expect({ exit, stdout }).toEqual({ exit: 4, stdout: '' });
    expect(stderr).toContain('127.0.0.1:1');
    expect(stderr).not.toContain('hunter2');
  },
);

test('completion offers the targets and the indexes that there are', async () => {
  expect((await tool(['__complete', '--', 'load', ''])).stdout).toBe('app\tapp\nempty\tNothing yet\n');
  expect((await tool(['__complete', '--', 'rm', 'app', ''])).stdout).toBe('0\t3 h ago\n1\t27 h ago: the first\n');
});

test('latest is the newest snapshot', async () => {
  expect((await tool(['verify', 'app', 'latest'])).stdout).toContain('bbbb1111');
  const { exit, stdout } = await tool(['load', 'empty', 'latest', '--json']);
  expect({ exit, last: lastLine(stdout) }).toMatchObject({ exit: 2, last: { code: 'snapshot_missing' } });
});

test('a pull of a local snapshot is done', async () => {
  for (const words of [
    ['pull', 'app'],
    ['pull', 'app', 'latest', '-o'],
    ['pull', 'app', 'aaaa'],
  ]) {
    const { exit, stdout } = await tool(words);
    expect({ words, exit, stdout }).toMatchObject({
      words,
      exit: 0,
      stdout: expect.stringMatching(/^Nothing to pull/),
    });
  }
  const { stdout } = await tool(['pull', 'app', '--json']);
  expect(lastLine(stdout)).toMatchObject({ event: 'done', storage: null, objects: 0, snapshot: { where: ['local'] } });
});

test('target and targets print a table on a terminal, too, and the facts with --info', async () => {
  for (const words of [['targets'], ['target', 'app']]) {
    expect({ words, ...(await tool(words, { terminal: ATTENDED })) }).toMatchObject({ words, exit: 0, opened: [] });
  }
  const info = (await tool(['target', 'app', '--info'])).stdout;
  expect(info).toMatch(/^app\n {2}Type +local\n {2}Engine +PostgreSQL\n {2}Status +unreachable/);
  expect(info).toMatch(/\n {2}Destination +postgres:\/\/app@127.0.0.1:1\/app_dev \(targets.app.snapshot.dst_url\)\n/);
  expect(info).toContain('bbbb1111');
  expect(info).not.toContain('hunter2');
  const { targets } = JSON.parse((await tool(['targets', '--info', '--no-check', '--json'])).stdout);
  expect(targets).toMatchObject([
    { name: 'app', info: { sanitize_query: null, destination_set_by: 'targets.app.snapshot.dst_url' } },
    { name: 'empty', info: { source: null, destination: null } },
  ]);
});
