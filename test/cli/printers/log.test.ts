import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLog } from '../../../src/cli/printers/log.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import { openContext } from '../../../src/runtime/context.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';

const EVENTS: RunEvent[] = [
  { event: 'step', step: 'dump', state: 'started', label: 'Dump 25 tables of postgres://u:secret@h/d' },
  { event: 'command', command: 'pg_dump -Fd app' },
  { event: 'progress', step: 'dump', done: 12, total: null, unit: 'bytes', current: 'public.orders' },
  { event: 'statement', statement: 'SELECT 1\n  FROM\tt', sqlstate: '00000', duration_ms: 3 },
  { event: 'command_ended', command: 'pg_dump -Fd app', exit: 0, duration_ms: 1200 },
  { event: 'warning', code: 'schema_not_found', message: 'no schema\u001b[2J "x"\nno' },
  { event: 'step', step: 'dump', state: 'done', label: 'Dump 25 tables' },
];

async function logged(trace: boolean): Promise<{ text: string; heard: RunEvent[] }> {
  await using folder = await temporaryFolder();
  const heard: RunEvent[] = [];
  let now = new Date(0);
  const log = createLog({ directory: folder.path, trace, clock: () => now, report: (event) => heard.push(event) });
  for (const event of EVENTS) {
    now = new Date(now.getTime() + 500);
    log.report(event);
  }
  log.logFailure(new UserError('dump_failed', 'It failed', { details: ['at postgres://u:secret@h/d'] }));
  return { text: await readFile(join(folder.path, 'logs', 'tool.log'), 'utf8'), heard };
}

test('the log has steps and commands with their time, warnings and the error: a line each, without secrets', async () => {
  const { text, heard } = await logged(false);
  expect(
    text.replaceAll(` ${process.pid} `, ' PID '),
  ).toBe(`1970-01-01T00:00:00.500Z PID step dump started: Dump 25 tables of postgres://u:***@h/d
1970-01-01T00:00:01.000Z PID command pg_dump -Fd app
1970-01-01T00:00:02.500Z PID command_ended 0 after 1.2 s: pg_dump -Fd app
1970-01-01T00:00:03.000Z PID warning schema_not_found: no schema [2J "x" no
1970-01-01T00:00:03.500Z PID step dump done after 3.0 s: Dump 25 tables
1970-01-01T00:00:03.500Z PID error dump_failed: It failed | at postgres://u:***@h/d
`);
  expect(heard).toEqual(EVENTS);
});

test('a trace has progress and SQL statements as well', async () => {
  const { text } = await logged(true);
  expect(text).toContain(' progress dump 12/? bytes public.orders\n');
  expect(text).toContain(' statement 00000 after 3 ms: SELECT 1 FROM t\n');
});

test('a log that cannot be written is one warning, and the events go on', async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'logs'), 'not a folder');
  const heard: RunEvent[] = [];
  const { report } = createLog({
    directory: folder.path,
    trace: true,
    clock: () => new Date(),
    report: (event) => heard.push(event),
  });
  for (const event of EVENTS) report(event);
  expect(heard.slice(1)).toEqual(EVENTS);
  expect(heard[0]).toMatchObject({
    event: 'warning',
    code: 'log_not_written',
    message: expect.stringContaining('EEXIST'),
  });
});

test('a secret of the configuration is hidden by its value, however a server repeats it', async () => {
  await using folder = await temporaryFolder();
  const config = join(folder.path, 'own.yml');
  const src_url = 'postgres://app:Zebra%21Quartz7@127.0.0.1:1/app';
  await writeFile(
    config,
    `working_directory: ${folder.path}/work\nsecret_key: ${'ab'.repeat(16)}\ntargets: { app: { snapshot: { src_url: "${src_url}" } } }\n`,
  );
  const context = await openContext({
    config,
    environment: {},
    cwd: folder.path,
    report: () => {},
    signal: new AbortController().signal,
    clock: () => new Date(),
    debug: true,
  });
  context.report({ event: 'warning', code: 'x', message: 'near "Zebra!Quartz7": syntax error' });
  const text = await readFile(join(folder.path, 'work', 'logs', 'tool.log'), 'utf8');
  expect(text).toContain('near "***": syntax error');
});
