import { afterEach, describe, expect, test, vi } from 'vitest';
import { ViewportContext } from '../../../components/list.tsx';
import { createTheme, ThemeContext } from '../../../components/theme.ts';
import { ModelContext } from '../../../screens/app/frame/frame.tsx';
import type { Model } from '../../../screens/app/model.ts';
import type { Operations } from '../../../screens/app/operations.ts';
import { highlighted } from '../../../screens/targets/highlight.ts';
import { liveRuns, runCell } from '../../../screens/targets/live-runs.ts';
import { watchStatus } from '../../../screens/targets/live-status.ts';
import { targetsScreen } from '../../../screens/targets/targets-screen.tsx';
import type { CheckTargets } from '../../../src/operations/targets/targets.ts';
import { ASCII, UNICODE } from '../../../src/presentation/shapes/glyphs.ts';
import { queueRun, startRun } from '../../../src/state/run.ts';
import { sparkline } from '../../../src/text/sparkline.ts';
import { fakeOperations } from '../../helpers/fakes/fake-operations.ts';
import { fakeSnapshot, fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { listed, until } from '../../helpers/terminal/driven-model.ts';
import { insidePanel, type Rendered, renderAt } from '../../helpers/terminal/render.tsx';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

describe('the live status', () => {
  const targets = ['app', 'billing', 'legacy'].map((name) => fakeTarget({ name }));
  const checks = { app: { status: 'ok' }, billing: { status: 'ok' }, legacy: { status: 'ok' } } as const;

  async function watched(change: Partial<Operations> = {}): Promise<{ model: Model; rounds: string[][] }> {
    const world = fakeWorld({ targets, checks: { ...checks } });
    const rounds: string[][] = [];
    const operations: Operations = {
      ...fakeOperations(world),
      async checkTargets(_session, { rows, take }: CheckTargets) {
        rounds.push(rows.map(({ name, status }) => `${name} ${status}`));
        for (const row of rows) take({ ...row, status: 'unreachable', error: 'gone', error_code: 'unreachable' });
      },
      ...change,
    };
    const model = await listed(world, { operations });
    await until(() => model.targets.getState().entries.every(({ checking }) => !checking));
    return { model, rounds };
  }

  test('checks visible rows in each round, and no rows that left the view', async () => {
    const { model, rounds } = await watched();
    model.viewport.keys = ['app', '\nlocal', 'billing'];
    ends.push(watchStatus(model, 5));
    await until(() => rounds.length >= 2);
    expect(rounds[0]).toEqual(['app unchecked', 'billing unchecked']);
    const statuses = () => model.targets.getState().entries.map(({ row }) => row.status);
    await until(() => statuses().join(' ') === 'unreachable unreachable ok');
    model.viewport.keys = ['legacy'];
    const before = rounds.length;
    await until(() => rounds.length > before + 1);
    expect(rounds.at(-1)).toEqual(['legacy unchecked']);
  });

  test('ends with the screen: a running check is aborted and another never begins', async () => {
    const signals: AbortSignal[] = [];
    const { model } = await watched({
      checkTargets: ({ signal }) => {
        signals.push(signal);
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    model.viewport.keys = ['app'];
    const before = model.targets.getState();
    const end = watchStatus(model, 5);
    await until(() => signals.length === 1);
    end();
    expect(signals[0]?.aborted).toBe(true);
    expect(model.targets.getState()).toBe(before);
  });

  test('a target that is not shared stays so', async () => {
    const { model, rounds } = await watched();
    model.targets.setState((state) => ({
      ...state,
      entries: state.entries.map((entry) => ({
        ...entry,
        row: { ...entry.row, status: 'denied', error_code: entry.row.name === 'app' ? 'not_shared' : 'wrong_password' },
      })),
    }));
    model.viewport.keys = ['app', 'billing'];
    ends.push(watchStatus(model, 5));
    await until(() => rounds.length > 0);
    expect(rounds[0]).toEqual(['app denied', 'billing unchecked']);
  });
});

describe('the list', () => {
  async function drawn(world = fakeWorld(), change: (model: Model) => void = () => {}): Promise<[Model, Rendered]> {
    const model = await listed(world);
    change(model);
    const route = model.navigation.top();
    if (route.screen !== 'targets') throw new Error('not the list of targets');
    const View = targetsScreen.view;
    const rendered = renderAt(
      { columns: 110, rows: 24 },
      <ThemeContext value={createTheme({ unicode: true })}>
        <ModelContext value={model}>
          <ViewportContext value={model.viewport}>
            <View route={route} />
          </ViewportContext>
        </ModelContext>
      </ThemeContext>,
    );
    ends.push(rendered.unmount);
    return [model, rendered];
  }

  test('shows the sizes of the newest snapshots as a sparkline, once it has read them', async () => {
    const snapshots = [300, 200, 100].map((size_bytes, index) => fakeSnapshot({ index, id: `s${index}`, size_bytes }));
    const [, rendered] = await drawn(fakeWorld({ snapshots: { app: snapshots } }));
    await expect
      .poll(async () => insidePanel(await rendered.screen()).join('\n'))
      .toMatch(/SNAPSHOTS +TREND[\s\S]*app .* 3 +▁▅█/);
  });

  test('shows the run of a target in place of its status, and the status again when it has ended', async () => {
    const gate = Promise.withResolvers<void>();
    const world = fakeWorld({ gate: gate.promise });
    const [model, rendered] = await drawn(world);
    const row = async () => (await rendered.screen()).find((line) => /❯ +app /.test(line)) ?? '';
    await expect.poll(row).toContain('✓ up');
    model.runs.begin({
      title: 'Build',
      target: 'app',
      kind: 'build',
      replaces: null,
      perform: async ({ report }) => {
        report({ event: 'step', step: 'dump', state: 'started', label: 'Dump' });
        report({ event: 'progress', step: 'dump', done: 42, total: 100, unit: 'tables' });
        await gate.promise;
        return { line: 'Built', details: [], problems: [], undo: null };
      },
    });
    await expect.poll(row).toMatch(/app +[⠋⠙⠹⠸⠼⠴⠦⠧] build 38% /);
    gate.resolve();
    await expect.poll(row).toContain('✓ up');
  });

  test('has no animation while nothing runs, and one turn of the spinner a second while something does', async () => {
    const spy = vi.spyOn(globalThis, 'setTimeout');
    ends.push(() => spy.mockRestore());
    const turns = () =>
      spy.mock.calls.filter(([, delay]) => delay !== undefined && delay > 500 && delay <= 1000).length;
    const gate = Promise.withResolvers<void>();
    const [model, rendered] = await drawn(fakeWorld({ gate: gate.promise }));
    await rendered.screen();
    expect(turns()).toBe(0);
    model.runs.begin({
      title: 'Build',
      target: 'app',
      kind: 'build',
      replaces: null,
      perform: async () => {
        await gate.promise;
        return { line: 'Built', details: [], problems: [], undo: null };
      },
    });
    await expect.poll(turns).toBeGreaterThan(0);
    gate.resolve();
    await model.runs.settled();
  });
});

describe('a run in the list', () => {
  const run = { kind: 'load', cancelling: false, target: 'app' };
  const running = { ...run, state: startRun(0) };
  const waiting = { ...run, state: queueRun(0) };

  test('the one in progress of several runs is shown', () => {
    const runs = [waiting, running, { ...run, state: { status: 'done' } }] as never[];
    expect(liveRuns(runs).get('app')).toBe(running);
  });

  test('shows whether it waits or is being cancelled, in ASCII too', () => {
    const text = (one: object, glyphs = UNICODE) => runCell(one as never, { glyphs, frame: 1, now: 0 }).text;
    expect(text(waiting)).toBe('○ load queued');
    expect(text(running)).toBe('⠙ load 0%');
    expect(text({ ...running, cancelling: true }, ASCII)).toBe('/ cancelling 0%');
  });
});

test('a sparkline goes from the smallest to the largest value, and is flat where nothing changes', () => {
  expect(sparkline([1, 2, 3, 8], UNICODE)).toBe('▁▂▃█');
  expect(sparkline([1000, 1001, 999], UNICODE)).toBe('▅▅▅');
  expect(sparkline([0, 0], ASCII)).toBe('==');
  expect(sparkline([5], UNICODE)).toBe('');
});

test('the words of a filter are emphasized wherever they stand, whatever their letters', () => {
  const marked = (text: string, filter: string) =>
    highlighted([{ text, tone: 'dim' }], filter)
      .map((span) => (span.bold ? `[${span.text}]` : span.text))
      .join('');
  expect(marked('shop on SHOPPING', 'shop')).toBe('[shop] on [SHOP]PING');
  expect(marked('a.b axb (c', '.b (c')).toBe('a[.b] axb [(c]');
  expect(marked('ÄRGER', 'är')).toBe('[ÄR]GER');
  expect(marked('plain', '  ')).toBe('plain');
});
