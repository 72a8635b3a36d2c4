import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/commands/registry.ts';
import { EXIT, interrupted, UserError, withOutcome } from '../../src/runtime/errors.ts';
import { ATTENDED, command, runWith } from '../helpers/terminal/cli-host.ts';
import { questionOf } from '../helpers/terminal/question.ts';

const finds = command(async () => ({ data: { found: 1 }, text: 'found 1' }), { json: 'document' });

const works = command(async ({ report }) => {
  report({ event: 'step', step: 'dump', state: 'started', label: 'Dump' });
  report({ event: 'command', command: 'pg_dump app' });
  report({ event: 'progress', step: 'dump', done: 1, total: 2, unit: 'tables' });
  report({ event: 'warning', code: 'odd', message: 'something is odd' });
  report({ event: 'step', step: 'dump', state: 'done', label: 'Dump' });
  return { data: { snapshot: { index: 0 } }, text: 'built' };
});

const failing = command(async ({ report }) => {
  report({ event: 'step', step: 'dump', state: 'started', label: 'Dump' });
  throw new UserError('unreachable', 'Cannot reach postgres://app:hunter2@db/app', {
    hint: 'Is password=hunter2 right?',
    details: ['FATAL: no\nreally postgres://app:hunter2@db/app'],
  });
});

test('a result goes to standard output, and the steps to standard error', async () => {
  const { exit, stdout, stderr } = await runWith(['work'], [works]);
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: 'built\n' });
  expect(stderr).toBe('warning: something is odd\n✓ Dump 0 ms\n');
});

test('a reading command prints one JSON document with --json, at any position of the flag', async () => {
  for (const words of [
    ['--json', 'work'],
    ['work', '--json'],
  ]) {
    const { stdout, stderr } = await runWith(words, [finds]);
    expect(JSON.parse(stdout)).toEqual({ found: 1 });
    expect(stderr).toBe('');
  }
});

test('a changing command prints one event per line with --json, the result last', async () => {
  const { stdout } = await runWith(['work', '--json'], [works]);
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.map(({ event }) => event)).toEqual(['step', 'progress', 'warning', 'step', 'done']);
  expect(events.at(-1)).toEqual({ event: 'done', command: 'work', duration_ms: 0, snapshot: { index: 0 } });
});

test('--debug prints the commands', async () => {
  expect((await runWith(['work', '--debug'], [works])).stderr).toContain('$ pg_dump app\n');
  expect((await runWith(['work', '--debug', '--json'], [works])).stdout).toContain('{"event":"command"');
});

test('an error has message, details, hint and step, without stack and password', async () => {
  const { exit, stdout, stderr } = await runWith(['work'], [failing]);
  expect({ exit, stdout }).toEqual({ exit: 4, stdout: '' });
  expect(stderr).toBe(
    [
      '✗ Dump 0 ms',
      'error: Cannot reach postgres://app:***@db/app',
      '    FATAL: no',
      '      really postgres://app:***@db/app',
      '  hint: Is password=*** right?',
      '',
    ].join('\n'),
  );
});

test('a failed promise that is not awaited fails the command', async () => {
  const failed = [new UserError('unreachable', 'Cannot reach postgres://app:hunter2@db/app')];
  const { exit, stdout, stderr } = await runWith(['work'], [works], { failedUnawaited: () => failed });
  expect({ exit, stdout }).toEqual({ exit: 4, stdout: '' });
  expect(stderr).toContain('error: Cannot reach postgres://app:***@db/app');
});

test('--debug adds where an error came from', async () => {
  const { stderr } = await runWith(['work', '--debug'], [failing]);
  expect(stderr).toContain('run.test.ts');
  expect(stderr).not.toContain('hunter2');
});

test("a working command's error is its last event with --json", async () => {
  const { stdout } = await runWith(['work', '--json'], [failing]);
  expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toEqual({
    event: 'error',
    code: 'unreachable',
    message: 'Cannot reach postgres://app:***@db/app',
    hint: 'Is password=*** right?',
    exit: 4,
    details: ['FATAL: no\nreally postgres://app:***@db/app'],
  });
});

test("a reading command's error is its document with --json", async () => {
  const reading = command(async ({ context }) => ({ data: await context(), text: '' }), { json: 'document' });
  const { exit, stdout } = await runWith(['work', '--json'], [reading]);
  expect(exit).toBe(3);
  expect(JSON.parse(stdout)).toEqual({
    error: { code: 'no_configuration', message: 'No configuration found', hint: null, exit: 3 },
  });
});

test('a defect is reported as one and exits with 1', async () => {
  const defect = command(async () => {
    throw new TypeError('x is not a function');
  });
  const { exit, stderr } = await runWith(['work'], [defect]);
  expect(exit).toBe(1);
  expect(stderr).toContain('error: x is not a function\n  hint: This is a defect');
  expect(stderr).not.toContain('run.test.ts');
});

test('an aborted run ends with the reason of the abort, after any other error', async () => {
  const controller = new AbortController();
  const stumbling = command(async () => {
    controller.abort(interrupted(143));
    throw new Error('connection lost');
  });
  const { exit, stderr } = await runWith(['work'], [stumbling], { signal: controller.signal });
  expect({ exit, stderr }).toEqual({ exit: 143, stderr: 'error: Interrupted\n' });
});

test('an aborted run states what it has left', async () => {
  const controller = new AbortController();
  const stopping = command(async () => {
    controller.abort(interrupted());
    throw withOutcome(controller.signal.reason, 'shop_dev is unchanged.');
  });
  const { exit, stderr } = await runWith(['work'], [stopping], { signal: controller.signal });
  expect({ exit, stderr }).toEqual({ exit: 130, stderr: 'error: Interrupted\n  hint: shop_dev is unchanged.\n' });
});

test('an outcome may carry an exit code of its own', async () => {
  const wrong = command(async () => ({ data: { ok: false }, text: 'wrong', exit: EXIT.configuration }));
  expect((await runWith(['work'], [wrong])).exit).toBe(3);
});

test('a call without a command opens the screens on a terminal; elsewhere help states why not, with exit 0', async () => {
  expect((await runWith(['--config', 'a.yml'], [works], { terminal: ATTENDED })).opened).toEqual([
    { config: 'a.yml', readOnly: false },
  ]);
  for (const [words, terminal, why] of [
    [[], undefined, 'standard input is not a terminal'],
    [[], { ...ATTENDED, noScreens: 'TERM=dumb has no cursor movement' }, 'TERM=dumb has no cursor movement'],
    [['--no-tui'], ATTENDED, '--no-tui was given'],
  ] as const) {
    const { exit, stdout, stderr, opened } = await runWith([...words], [works], terminal && { terminal });
    expect({ exit, stderr, opened }).toEqual({ exit: 0, stderr: '', opened: [] });
    expect(stdout.split('\n')[0]).toBe(`The screens are not opened: ${why}. Commands work everywhere:`);
    expect(stdout).toContain('Usage: tool');
  }
});

test('with --json a call without a command is wrong usage: standard output carries JSON only', async () => {
  const { exit, stdout, stderr } = await runWith(['--json'], [works], { terminal: ATTENDED });
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toContain('Usage: tool');
});

test('a command can open the screens only where a person is', async () => {
  const opening = command(async ({ screens }) => {
    if (screens) return { data: {}, text: '', exit: await screens({ setUp: true }) };
    return { data: {}, text: 'table' };
  });
  expect((await runWith(['work'], [opening], { terminal: ATTENDED })).opened).toEqual([
    { setUp: true, readOnly: false },
  ]);
  expect((await runWith(['work', '--no-tui'], [opening], { terminal: ATTENDED })).stdout).toBe('table\n');
  expect((await runWith(['work'], [opening])).stdout).toBe('table\n');
});

test('debug: true in the configuration is as good as --debug', async () => {
  const debugging = command(async ({ context, report }) => {
    await context();
    report({ event: 'command', command: 'pg_dump app' });
    return { data: {}, text: '' };
  });
  const settings = { working_directory: '/', debug: true };
  const openContext = async () => ({ configuration: { settings } }) as never;
  expect((await runWith(['work'], [debugging], { openContext })).stderr).toBe('$ pg_dump app\n');
});

test('a password that slipped into a result is masked, for people and for programs', async () => {
  const url = 'postgres://app:hunter2@db/app';
  const leaking = command(async ({ report }) => {
    report({ event: 'step', step: 'dump', state: 'started', label: `Dump ${url}` });
    report({ event: 'step', step: 'dump', state: 'done', label: `Dump ${url}` });
    report({ event: 'warning', code: 'odd', message: url });
    return { data: { url }, text: url };
  });
  for (const words of [['work'], ['work', '--json'], ['work', '--debug']]) {
    const { stdout, stderr } = await runWith(words, [leaking]);
    expect(stdout).toContain('postgres://app:***@db/app');
    expect(stdout + stderr).not.toContain('hunter2');
  }
});

test('a question is answered by --yes, -y, TOOL_NO_CONFIRM=true and CI=true; else, without a terminal, by no', async () => {
  const asking = command(async ({ confirm }) => {
    await confirm(questionOf());
    return { data: {}, text: 'done' };
  });
  const exitOf = async (...parameters: Parameters<typeof runWith>) => (await runWith(...parameters)).exit;
  expect(await exitOf(['work', '--yes'], [asking])).toBe(0);
  expect(await exitOf(['-y', 'work'], [asking])).toBe(0);
  expect(await exitOf(['work'], [asking], { environment: { TOOL_NO_CONFIRM: 'true' } })).toBe(0);
  expect(await exitOf(['work'], [asking], { terminal: { ...ATTENDED, ci: true } })).toBe(0);
  expect(await exitOf(['work'], [asking], { environment: { TOOL_NO_CONFIRM: 'false' } })).toBe(5);
  expect(await exitOf(['work'], [asking])).toBe(5);
});

test('--read-only refuses a command that writes, and permits its dry run', async () => {
  const plans = command(async () => ({ data: {}, text: 'the plan' }), {
    writes: true,
    options: [{ flags: '--dry-run', description: 'print the plan' }],
  });
  const refused = await runWith(['work', '--read-only'], [plans]);
  expect(refused).toMatchObject({ exit: 5, stdout: '', stderr: expect.stringContaining('--read-only was given') });
  const events = (await runWith(['work', '--read-only', '--json'], [plans])).stdout;
  expect(JSON.parse(events)).toMatchObject({ event: 'error', code: 'read_only', exit: 5 });
  expect(await runWith(['work', '--read-only', '--dry-run'], [plans])).toMatchObject({ exit: 0, stdout: 'the plan\n' });
  expect(await runWith(['work'], [plans])).toMatchObject({ exit: 0 });
  const lists = {
    ...plans,
    writes: { unless: 'list' },
    options: [{ flags: '--list', description: 'list the points' }],
  };
  expect(await runWith(['work', '--read-only'], [lists])).toMatchObject({ exit: 5 });
  expect(await runWith(['work', '--read-only', '--list'], [lists])).toMatchObject({ exit: 0 });
  expect(await runWith(['work', '--read-only'], [finds])).toMatchObject({ exit: 0, stdout: 'found 1\n' });
});

/** Commands of which the way of their output does not say whether they change databases, snapshots or the hub. */
const APART = {
  changesNothing: ['sanitize classify', 'sanitize check', 'export', 'auth login', 'hub reconcile', 'demo'],
  changesHub: ['cloud token create', 'cloud token revoke'],
};

test('a command that prints events changes databases, snapshots or the hub, and so is refused by --read-only', () => {
  const apart = COMMANDS.filter(({ json, writes }) => (json === 'events') !== (writes !== undefined));
  expect(apart.map(({ name }) => name).sort()).toEqual([...APART.changesNothing, ...APART.changesHub].sort());
});

test('the screens respect --read-only', async () => {
  const { opened } = await runWith(['--read-only'], [works], { terminal: ATTENDED });
  expect(opened).toEqual([{ readOnly: true }]);
});
