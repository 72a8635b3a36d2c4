import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../src/results/events.ts';
import { UserError } from '../../src/runtime/errors.ts';
import { paceOf } from '../../src/state/progress.ts';
import { elapsed, endRun, foldRun, type RunState, startRun } from '../../src/state/run.ts';

const dumpStarted: RunEvent = { event: 'step', step: 'dump', state: 'started', label: 'Dump 25 tables' };

describe('a run', () => {
  test('keeps its steps in the order they began, each with its times', () => {
    const state = fold([
      [0, { event: 'step', step: 'connect', state: 'started', label: 'Connect' }],
      [30, { event: 'step', step: 'connect', state: 'done', label: 'Connected' }],
      [40, dumpStarted],
    ]);
    expect(state.steps).toMatchObject([
      { step: 'connect', label: 'Connected', state: 'done', startedAt: 0, endedAt: 30 },
      { step: 'dump', label: 'Dump 25 tables', state: 'running', startedAt: 40, endedAt: null },
    ]);
  });

  test('that goes through a step again has a second one, and progress is that of the second', () => {
    const { steps } = fold([
      [0, dumpStarted],
      [30, { event: 'step', step: 'dump', state: 'done', label: 'Dumped 25 tables' }],
      [40, { event: 'step', step: 'query', state: 'skipped', label: 'No query' }],
      [50, dumpStarted],
      [60, { event: 'progress', step: 'dump', done: 5, total: 10, unit: 'bytes' }],
    ]);
    expect(steps).toMatchObject([
      { step: 'dump', state: 'done', endedAt: 30, progress: null },
      { step: 'query', state: 'skipped' },
      { step: 'dump', state: 'running', startedAt: 50, progress: { done: 5 } },
    ]);
  });

  test('that fails marks the step it was in', () => {
    const error = new UserError('disk_full', 'Disk full');
    const state = endRun(fold([[0, dumpStarted]]), { status: 'failed', error }, 500);
    expect(state).toMatchObject({ status: 'failed', error, endedAt: 500, steps: [{ state: 'failed', endedAt: 500 }] });
    expect(elapsed(state, 9000)).toBe(500);
  });

  test('does not change the state it was handed', () => {
    const before = fold([[0, dumpStarted]]);
    const copy = structuredClone(before);
    foldRun(before, { event: 'progress', step: 'dump', done: 5, total: 10, unit: 'bytes' }, 100);
    expect(before).toEqual(copy);
  });

  test('lets the oldest lines of the log go and counts them', () => {
    const state = fold(
      Array.from({ length: 1003 }, (_, line): [number, RunEvent] => [line, { event: 'command', command: `c${line}` }]),
    );
    expect(state.log).toHaveLength(1000);
    expect(state.log[0]?.text).toBe('c3');
    expect(state.droppedLines).toBe(3);
  });

  test('logs a step in one line without other events, in two lines around them', () => {
    const { log } = fold([
      [0, { event: 'step', step: 'connect', state: 'started', label: 'Connect' }],
      [30, { event: 'step', step: 'connect', state: 'done', label: 'Connected' }],
      [40, dumpStarted],
      [50, { event: 'command', command: 'pg_dump' }],
      [90, { event: 'step', step: 'dump', state: 'done', label: 'Dumped 25 tables' }],
      [95, { event: 'step', step: 'push', state: 'skipped', label: 'No bucket' }],
    ]);
    expect(log.map(({ kind, text, tookMs }) => [kind, text, tookMs])).toEqual([
      ['done', 'Connected', 30],
      ['step', 'Dump 25 tables', undefined],
      ['command', 'pg_dump', undefined],
      ['done', 'Dumped 25 tables', 50],
      ['skipped', 'No bucket', undefined],
    ]);
  });

  test('that fails has its error at the end of the log', () => {
    const error = new UserError('disk_full', 'Disk full');
    const { log } = endRun(fold([[0, dumpStarted]]), { status: 'failed', error }, 500);
    expect(log.at(-1)).toEqual({ at: 500, kind: 'failed', text: 'Disk full' });
  });

  test('collects warnings, and shows them in the log', () => {
    const state = fold([[7, { event: 'warning', code: 'schema_not_found', message: 'schema "x" not found' }]]);
    expect(state.warnings).toEqual([{ code: 'schema_not_found', message: 'schema "x" not found' }]);
    expect(state.log).toEqual([{ at: 7, kind: 'warning', text: 'schema "x" not found' }]);
  });
});

describe('the pace of a step', () => {
  test('computes rate and remaining time from the last seconds', () => {
    const state = fold([
      [0, dumpStarted],
      ...every({ milliseconds: 500, times: 8, doneAt: (second) => second * 1000 }),
    ]);
    expect(pace(state, 4000)).toEqual({ rate: 1000, remainingMs: 6000, share: 0.4 });
  });

  test('follows a change of speed instead of the mean of the whole run', () => {
    const slowThenFast = (second: number) => (second <= 20 ? second * 10 : 200 + (second - 20) * 400);
    const state = fold([[0, dumpStarted], ...every({ milliseconds: 500, times: 60, doneAt: slowThenFast })]);
    expect(pace(state, 30_000).rate).toBeCloseTo(400, -1);
  });

  test('is unknown in the first second', () => {
    const state = fold([
      [0, dumpStarted],
      ...every({ milliseconds: 100, times: 3, doneAt: (second) => second * 1000 }),
    ]);
    expect(pace(state, 300)).toMatchObject({ rate: null, remainingMs: null });
  });

  test('has no end when the total is unknown, or an estimate was overtaken', () => {
    const unknown = fold([
      [0, dumpStarted],
      ...every({ milliseconds: 500, times: 8, doneAt: (second) => second * 1000, total: null }),
    ]);
    expect(pace(unknown, 4000)).toEqual({ rate: 1000, remainingMs: null, share: null });
    const overtaken = fold([
      [0, dumpStarted],
      ...every({ milliseconds: 500, times: 8, doneAt: (second) => second * 1000, total: 3000 }),
    ]);
    expect(pace(overtaken, 4000)).toEqual({ rate: 1000, remainingMs: null, share: 1 });
  });

  test('falls while nothing moves', () => {
    const state = fold([
      [0, dumpStarted],
      ...every({ milliseconds: 500, times: 4, doneAt: (second) => second * 1000 }),
    ]);
    expect(pace(state, 2000).rate).toBe(1000);
    expect(pace(state, 8000).rate).toBe(250);
  });
});

function fold(events: [number, RunEvent][]): RunState {
  return events.reduce((state, [at, event]) => foldRun(state, event, at), startRun(0));
}

interface Every {
  milliseconds: number;
  times: number;
  doneAt: (second: number) => number;
  total?: number | null;
}

function every({ milliseconds, times, doneAt, total = 10_000 }: Every): [number, RunEvent][] {
  return Array.from({ length: times }, (_, index) => {
    const at = (index + 1) * milliseconds;
    return [at, { event: 'progress', step: 'dump', done: doneAt(at / 1000), total, unit: 'bytes' }];
  });
}

function pace(state: RunState, now: number) {
  const progress = state.steps[0]?.progress;
  if (!progress) throw new Error('the step has no progress');
  return paceOf(progress, now);
}
