import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../src/results/events.ts';
import { UserError } from '../../src/runtime/errors.ts';
import { type ExpectedStep, overallProgress } from '../../src/state/overall-progress.ts';
import { endRun, foldRun, startRun } from '../../src/state/run.ts';
import { randomFrom } from '../helpers/random.ts';

interface RecordedRun {
  name: string;
  ms: number;
  expected: ExpectedStep[];
  events: [number, RunEvent][];
}

function readRuns(file: string): RecordedRun[] {
  const lines = readFileSync(new URL(file, import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line): RecordedRun => JSON.parse(line));
}

const RECORDED = readRuns('recorded-runs.ndjson');
/** `npm run bench -- estimates 3 100 --output FILE`, runs of 2 s and more. */
const ESTIMATED = readRuns('recorded-estimates.ndjson');

/** The shares at each event and at times between them, then that of the end. */
function sharesOf({ ms, expected, events }: RecordedRun): number[] {
  let state = startRun(0, expected);
  const shares: number[] = [];
  let at = 0;
  for (const [next, event] of events) {
    for (const time of [at, (at + next) / 2, next]) shares.push(overallProgress(state, time).share);
    state = foldRun(state, event, next);
    shares.push(overallProgress(state, next).share);
    at = next;
  }
  shares.push(overallProgress(state, ms).share);
  return [...shares, overallProgress(endRun(state, { status: 'done' }, ms), ms + 5000).share];
}

function expectSteady(shares: number[]): void {
  const fall = shares.findIndex((share, index) => share < (shares[index - 1] ?? 0));
  expect(fall === -1 ? null : shares.slice(fall - 1, fall + 1)).toBe(null);
  expect(shares[0]).toBe(0);
  expect(Math.max(...shares.slice(0, -1))).toBeLessThan(1);
  expect(shares.at(-1)).toBe(1);
}

describe('the progress of a run', () => {
  test.each([...RECORDED, ...ESTIMATED])('$name: never falls, and is 100 % at the end and not before', (run) => {
    expectSteady(sharesOf(run));
  });

  test.each(RECORDED)('$name: every step was announced, in its order', ({ expected, events }) => {
    let state = startRun(0, expected);
    for (const [at, event] of events) state = foldRun(state, event, at);
    const { steps } = overallProgress(state, 0);
    const unexpected = steps.filter(({ expectedMs }) => expectedMs === null);
    expect(unexpected.map(({ label }) => label)).toEqual([]);
    expect(steps.filter(({ begun }) => begun === null)).toEqual([]);
  });

  test('never falls whatever is reported: other steps, other totals, totals that grow, steps out of order', () => {
    for (let seed = 1; seed <= 300; seed += 1) expectSteady(sharesOf(randomRun(seed)));
  });

  test('lists all steps from the start, and those to come with their estimate', () => {
    const expected = [
      { step: 'restore', label: 'Restore 2 tables', ms: 800 },
      { step: 'index', label: 'Build indexes', ms: 100 },
      { step: 'swap', label: 'Switch app', ms: 100 },
    ];
    const begun = foldRun(startRun(0, expected), step('restore', 'started'), 10);
    const labels = (state: typeof begun) => overallProgress(state, 10).steps.map(({ label }) => label);
    expect(labels(begun)).toEqual(['restore', 'Build indexes', 'Switch app']);
    // The index was passed over.
    const later = foldRun(foldRun(begun, step('restore', 'done'), 900), step('swap', 'started'), 910);
    expect(labels(later)).toEqual(['restore', 'swap']);
    const error = new UserError('restore_failed', 'no');
    expect(labels(endRun(begun, { status: 'failed', error }, 20))).toEqual(['restore']);
  });

  test('the time left at half of a recorded run is within a factor of 1.5 of the true one in seven of eight', () => {
    const factors = ESTIMATED.map((run) => {
      const half = run.ms / 2;
      const begun = run.events.filter(([at]) => at <= half);
      const state = begun.reduce((before, [at, event]) => foldRun(before, event, at), startRun(0, run.expected));
      return (overallProgress(state, half).leftMs ?? 0) / half;
    });
    const good = factors.filter((factor) => factor >= 1 / 1.5 && factor <= 1.5);
    expect(good.length / factors.length).toBeGreaterThanOrEqual(7 / 8);
  });

  test('estimates of an assumed content are corrected by the bytes that the first step reports', () => {
    const expected = ['dump', 'restore'].map((name) => ({
      step: name,
      label: name,
      ms: 600,
      assumed: { bytes: 20, ms: 500 },
    }));
    const begun = foldRun(startRun(0, expected), step('dump', 'started'), 0);
    const known = foldRun(begun, { event: 'progress', step: 'dump', done: 0, total: 200, unit: 'bytes' }, 100);
    const left = (state: typeof begun) => overallProgress(state, 100).leftMs ?? 0;
    expect(left(known) / left(begun)).toBeGreaterThan(5);
  });

  test('the time left is that of the steps to come, as much slower as those before', () => {
    const expected = [
      { step: 'restore', label: 'Restore', ms: 1000 },
      { step: 'index', label: 'Index', ms: 1000 },
    ];
    const slow = foldRun(
      foldRun(startRun(0, expected), step('restore', 'started'), 200),
      step('restore', 'done'),
      4200,
    );
    const { leftMs, share } = overallProgress(foldRun(slow, step('index', 'started'), 4200), 4200);
    expect(share).toBeCloseTo(0.5);
    expect(leftMs).toBeGreaterThan(2000);
    expect(leftMs).toBeLessThan(4500);
  });
});

function step(name: string, state: 'started' | 'done'): RunEvent {
  return { event: 'step', step: name, state, label: name };
}

const NAMES = ['pull', 'restore', 'index', 'check', 'swap'];

function randomRun(seed: number): RecordedRun {
  const random = randomFrom(seed);
  const name = (): string => NAMES[Math.floor(random() * NAMES.length)] ?? 'pull';
  const expected = Array.from({ length: Math.floor(random() * 7) }, () => ({
    step: name(),
    label: 'Work',
    ms: random() * 2000,
  }));
  let at = 0;
  const events = Array.from({ length: 40 }, (): [number, RunEvent] => {
    at += Math.round(random() * 400);
    if (random() < 0.5) return [at, step(name(), random() < 0.5 ? 'started' : 'done')];
    const total = random() < 0.2 ? null : Math.round(random() * 1000);
    return [at, { event: 'progress', step: name(), done: Math.round(random() * 1200), total, unit: 'bytes' }];
  });
  return { name: `random ${seed}`, ms: at + 500, expected, events };
}
