import { expect, test } from 'vitest';
import { progressLines } from '../../../screens/app/frame/progress-lines.ts';
import { untouchedLines } from '../../../screens/app/frame/run-text.ts';
import { stepLines } from '../../../screens/app/frame/step-lines.ts';
import type { Model } from '../../../screens/app/model.ts';
import type { RunnableProgram } from '../../../screens/app/runnable-program.ts';
import { createAnnouncer } from '../../../screens/app/terminal/announcing.ts';
import { keysWhenDone } from '../../../screens/commands/runs/after-run.ts';
import { answerConfirm } from '../../../screens/confirm/answer.ts';
import { UNICODE } from '../../../src/presentation/shapes/glyphs.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { endRun, foldRun, type RunState, startRun } from '../../../src/state/run.ts';
import { progressOfRun, type Run } from '../../../src/state/runs.ts';
import { cellWidth } from '../../../src/text/text-width.ts';
import { fakeOperations } from '../../helpers/fakes/fake-operations.ts';
import { fakePlannedWork } from '../../helpers/fakes/fake-planned-work.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { screenText } from '../../helpers/terminal/drawn-screen.tsx';
import { listed, press, until } from '../../helpers/terminal/driven-model.ts';
import { fakeTerminal } from '../../helpers/terminal/fake-terminal.ts';

const SIZE = { columns: 80, rows: 24 };
const MB = 1_000_000;

function progressOf(current: string, done: number, own: [number, number]): RunEvent {
  const [ownDone, total] = own;
  const of_current = { done: ownDone, total, bytes: ownDone };
  return { event: 'progress', step: 'restore', done, total: 100 * MB, unit: 'bytes', current, of_current };
}

const STARTED: RunEvent = { event: 'step', step: 'restore', state: 'started', label: 'Restore 3 tables' };
const EVENTS: [number, RunEvent][] = [
  [0, STARTED],
  [1000, progressOf('public.small', 5 * MB, [5 * MB, 5 * MB])],
  [2000, progressOf('public.orders', 15 * MB, [10 * MB, 65 * MB])],
  [3000, progressOf('public.customer', 20 * MB, [5 * MB, 30 * MB])],
  [4000, progressOf('public.orders', 40 * MB, [30 * MB, 65 * MB])],
];

function runWith(state: RunState, more: Partial<Run> = {}): Run {
  const base = { id: '1', title: 'Load', target: 'app', kind: 'load', replaces: null, summary: null } as const;
  return {
    ...base,
    state,
    cancelling: false,
    swaps: { database: 'app_dev', url: 'postgres://h/app_dev', exists: true },
    ...more,
  };
}

const EXPECTED = [
  { step: 'restore', label: 'Restore', ms: 8000 },
  { step: 'index', label: 'Build indexes', ms: 1000 },
  { step: 'swap', label: 'Switch app_dev', ms: 1000 },
];

const folded = EVENTS.reduce((state, [at, event]) => foldRun(state, event, at), startRun(0, EXPECTED));

function texts(run: Run, width: number, tables = 8): string[] {
  const { steps } = progressOfRun(run, 4100);
  const lines = [
    ...progressLines({ run, now: 4100, width, glyphs: UNICODE }),
    ...stepLines({ steps, now: 4100, width, tables, glyphs: UNICODE }),
  ];
  return lines.map((spans) => spans.map(({ text }) => text).join(''));
}

const firstWords = (lines: string[]) => lines.map((line) => line.trim().split(' ')[0]);

test('a run has one bar over all steps, its steps with figures in columns, and a bar for each table, largest first', () => {
  const [bar = '', empty, step = '', ...rest] = texts(runWith(folded), 76);
  expect(bar).toMatch(/^█+░+ +34% {2}about 8\.0 s left$/);
  expect(cellWidth(bar)).toBe(76);
  expect(empty).toBe('');
  expect(step).toMatch(/^● Restore 3 tables +40\.0 MB {2}9\.8 MB\/s +4\.1 s$/);
  expect(firstWords(rest)).toEqual(['public.orders', 'public.customer', 'public.small', '○', '○']);
  expect(rest[0]).toMatch(/46% {2}30\.0 MB of 65\.0 MB {2}15\.0 MB\/s$/);
  expect(rest.at(-1)).toMatch(/^○ Switch app_dev +~ 1\.0 s$/);
});

test.each([40, 60, 80, 120, 200])(
  'no line of the progress is wider than %d columns, and the time left is whole',
  (width) => {
    const lines = texts(runWith(folded), width);
    expect(lines[0]).toMatch(/about 8\.0 s left$/);
    expect(Math.max(...lines.map(cellWidth))).toBeLessThanOrEqual(width);
  },
);

test('tables in progress stay before finished ones where room is short', () => {
  expect(firstWords(texts(runWith(folded), 76, 2).slice(3, -2))).toEqual(['public.orders', 'public.customer']);
});

test('unknown time left is said to be unknown', () => {
  const begun = foldRun(startRun(0), STARTED, 0);
  expect(texts(runWith(begun), 76)[0]).toMatch(/% {2}time left unknown$/);
});

test('a failed run says that the database was not touched only where the swap has not begun', () => {
  const error = new UserError('restore_failed', 'refused');
  const before = endRun(folded, { status: 'failed', error }, 5000);
  expect(untouchedLines(runWith(before))).toEqual(['app_dev was not touched.']);
  const swap: RunEvent = { event: 'step', step: 'swap', state: 'started', label: 'Switch' };
  const after = endRun(foldRun(folded, swap, 4500), { status: 'failed', error }, 5000);
  expect(untouchedLines(runWith(after))).toEqual([]);
  const { swaps: _, ...inPlace } = runWith(before);
  expect(untouchedLines(inPlace)).toEqual([]);
  expect(untouchedLines(runWith(folded))).toEqual([]);
});

test('undo is offered where a previous version is kept, or will be', () => {
  const offered = (run: Run): boolean => keysWhenDone(run).some(({ id }) => id === 'undo');
  const swaps = { database: 'app_dev', url: 'postgres://h/app_dev', exists: false };
  expect([offered(runWith(folded)), offered(runWith(folded, { swaps }))]).toEqual([true, false]);
  const done = endRun(folded, { status: 'done' }, 5000);
  const undo = { database: 'app_dev', command: 'tool undo app' };
  const summary = { line: 'Loaded', details: [], problems: [] };
  expect(offered(runWith(done, { summary: { ...summary, undo } }))).toBe(true);
  expect(offered(runWith(done, { summary: { ...summary, undo: null } }))).toBe(false);
});

test('a load ends with a card; y copies the URL without password, ! opens the client on it', async () => {
  const copied: string[] = [];
  const ran: RunnableProgram[] = [];
  const run = async (program: RunnableProgram) => {
    ran.push(program);
    return 3;
  };
  const model = await loaded({}, { copy: (text) => void copied.push(text), run });
  const shown = await screenText(model, SIZE);
  expect(shown).toMatch(/╭─+╮/);
  expect(shown).toMatch(/✓ app_dev replaced {2}· {2}.* {2}· {2}unavailable 130 ms/);
  press(model, 'y', '!');
  expect(copied).toEqual(['postgres://app@localhost:5432/app_dev']);
  await until(() => notice(model).includes('exit code 3'));
  expect(ran.map(({ args }) => args)).toEqual([['postgres://app@localhost:5432/app_dev']]);
});

test('in a wide window the log stands beside the steps', async () => {
  const model = await loaded({}, {});
  const shown = await screenText(model, { columns: 160, rows: 50 });
  expect(shown).toContain(' Log ─');
  expect(shown).toContain('✓ app_dev replaced');
  expect(shown).toMatch(/\d\d:\d\d:\d\d ✓ Restore/);
  expect(await screenText(model, SIZE)).not.toContain('Log ─');
});

test('a build that left schemas with data out is a caution, and a writes schema_config', async () => {
  const world = fakeWorld({});
  const work = fakePlannedWork(world);
  const left_out_schemas = [
    { schema: 'app', tables: 10, bytes: 580_000_000 },
    { schema: 'empty', tables: 0 },
  ];
  const apply: typeof work.build.apply = async (session, planned) => {
    const built = await work.build.apply(session, planned);
    return { ...built, snapshot: { ...built.snapshot, left_out_schemas } };
  };
  const operations = fakeOperations(world, { ...work, build: { ...work.build, apply } });
  const model = await listed(world, { operations });
  press(model, 'b');
  await until(() => model.navigation.top().screen === 'run');
  await model.runs.settled();
  const shown = await screenText(model, SIZE);
  expect(shown).toMatch(/! Snapshot .* created.* without app \(10 tables,/s);
  expect(shown).toContain('a include schemas');
  press(model, 'a');
  expect(await screenText(model, SIZE)).toContain('schema_config: { use_default_schema: false }');
  const route = model.navigation.top();
  if (route.screen !== 'choice') throw new Error('nothing was asked');
  route.answer('write');
  await until(() => notice(model) === 'Saved /home/ada/tool.yml');
  expect(world.done.filter((line) => line.startsWith('include'))).toEqual(['include all schemas of app']);
});

test('Enter on a run that has ended opens the tables of its snapshot', async () => {
  const model = await loaded({});
  press(model, 'enter');
  await until(() => model.navigation.top().screen === 'tables');
});

test('a missing client shows the reason and the hint', async () => {
  const hint = 'Install it, or press y to copy the URL.';
  const failClient = new UserError('tools_missing', 'psql was not found', { hint });
  const model = await loaded({ failClient });
  press(model, '!');
  await until(() => notice(model) === `psql was not found. ${hint}`);
});

test('a failed load shows the cause and that nothing was touched, and r runs it again', async () => {
  const failLoad = new UserError('restore_failed', 'the disk is full', { hint: 'Free some.' });
  const world = fakeWorld({ failLoad });
  const model = await loaded(world);
  const shown = await screenText(model, SIZE);
  expect(shown).toMatch(/✗ the disk is full.*app_dev was not touched\..*Free some\./s);
  world.failLoad = null;
  press(model, 'r');
  await model.runs.settled();
  expect(model.runs.store.getState().runs.map(({ state }) => state.status)).toEqual(['failed', 'done']);
});

test('the log is behind a key: commands are folded to their purpose, unfolded by Enter, and found by their text', async () => {
  const world = fakeWorld({});
  const work = fakePlannedWork(world);
  const command = `/usr/lib/postgresql/15/bin/pg_dump ${'--exclude-table=t '.repeat(12)}--last`;
  const apply: typeof work.build.apply = (session, planned) => {
    session.report({ event: 'command', command });
    return work.build.apply(session, planned);
  };
  const operations = fakeOperations(world, { ...work, build: { ...work.build, apply } });
  const model = await listed(world, { operations });
  press(model, 'b');
  await until(() => model.navigation.top().screen === 'run');
  await model.runs.settled();
  expect(await screenText(model, SIZE)).not.toContain('pg_dump');
  press(model, 'L');
  const log = await screenText(model, SIZE);
  expect(log).toContain('$ pg_dump: read definitions and rows of the source');
  expect(log).not.toContain('--exclude-table');
  press(model, 'enter');
  expect(await screenText(model, SIZE)).toMatch(/--exclude-table=t[^$]*--last/s);
  press(model, 'enter');
  press(model, 'esc');
  expect(model.navigation.top()).toMatchObject({ screen: 'run', log: false });
  press(model, '/');
  expect(model.navigation.top()).toMatchObject({ log: true });
});

test('the end of a run is announced when it took more than ten seconds, unless notify is off', async () => {
  for (const [seconds, notify, expected] of [
    [11, true, 1],
    [9, true, 0],
    [11, false, 0],
  ] as const) {
    let now = Date.parse('2026-11-21T05:00:00Z');
    const announced: string[] = [];
    const gate = Promise.withResolvers<void>();
    const model = await listed(fakeWorld({ gate: gate.promise }), {
      clock: () => new Date(now),
      terminal: fakeTerminal({ announce: (text) => void announced.push(text) }),
    });
    model.session.setState({ notify });
    press(model, 'b');
    await until(() => model.runs.live().some(({ state }) => state.status === 'running'));
    now += seconds * 1000;
    gate.resolve();
    await model.runs.settled();
    expect(announced).toHaveLength(expected);
  }
});

test('an announcement is a title, a bell and OSC 9, without control characters; the title is restored', () => {
  const written: string[] = [];
  const { announce, restore } = createAnnouncer({ write: (text: string) => written.push(text) > 0 });
  const taken = () => written.splice(0).join('');
  restore();
  expect(taken()).toBe('');
  announce('Loaded\x1b]0;x\x07 app');
  const first = taken();
  // Four control characters of ours, and none of the text.
  const parts = first.split('\x07');
  expect(first.startsWith('\x1b[22;2t\x1b]2;tool: Loaded')).toBe(true);
  expect(parts).toHaveLength(4);
  expect(parts[1]).toBe('');
  expect(parts[2]?.startsWith('\x1b]9;tool: Loaded')).toBe(true);
  expect(first.split('\x1b')).toHaveLength(4);
  announce('again');
  restore();
  restore();
  expect(taken()).toBe('\x1b]2;tool: again\x07\x07\x1b]9;tool: again\x07\x1b[23;2t');
});

function notice(model: Model): string {
  return model.navigation.store.getState().notice?.text ?? '';
}

/** A model after a load. */
async function loaded(
  world: Parameters<typeof fakeWorld>[0],
  terminal: Parameters<typeof fakeTerminal>[0] = {},
): Promise<Model> {
  const whole = world && 'targets' in world ? (world as ReturnType<typeof fakeWorld>) : fakeWorld(world);
  const model = await listed(whole, { terminal: fakeTerminal(terminal) });
  press(model, 'l');
  await until(() => {
    const route = model.navigation.top();
    return route.screen === 'confirm' && route.plan !== null;
  });
  answerConfirm(model, 'go');
  await model.runs.settled();
  return model;
}
