import type { HistoryEntry } from '../../results/history-results.ts';
import type { Context } from '../../runtime/context.ts';
import type { ExpectedStep } from '../../state/overall-progress.ts';
import { knownEntries } from './history-file.ts';
import { median, sizeRatio } from './load-estimate.ts';
import { inOrder } from './step-times.ts';

/** The facts that earlier runs have in common with a planned one. */
export type AlikeRuns = Pick<HistoryEntry, 'operation' | 'target'> &
  Partial<Pick<HistoryEntry, 'to' | 'method'>> & { bytes?: number };

/** Newest runs that count. */
const COUNTED = 3;

/**
 * Returns the steps with the durations that they had in earlier runs of the same steps; others as expected, at the speed
 * that the server had in earlier runs for any target.
 */
export function withEarlierTimes(
  context: Pick<Context, 'configuration'>,
  expected: ExpectedStep[],
  alike: AlikeRuns,
): ExpectedStep[] {
  const done = knownEntries(context).filter(({ outcome }) => outcome === 'done');
  const runs = done.filter(isAlike(alike)).flatMap(({ steps = [], size_bytes }) => {
    const times = inOrder(expected, steps);
    return times ? [{ times, ratio: sizeRatio(size_bytes, alike.bytes ?? size_bytes) }] : [];
  });
  const counted = runs.slice(0, COUNTED);
  const known = expected.map((_, at) =>
    counted.flatMap(({ times, ratio }) => (times[at] == null ? [] : [times[at] * ratio])),
  );
  const slowness = stepSlowness(onServer(done, serverOf(context, alike)));
  const factor = speedRatio(expected, known) ?? slowness.all;
  return expected.map(({ assumed, ...step }, at) => {
    const times = known[at] ?? [];
    const ms = median(times);
    if (ms !== null) return { ...step, ms: between(ms, step.ms * factor, times.length) };
    const slower = slowness.of.get(step.step) ?? factor;
    return { ...step, ms: step.ms * slower, ...(assumed && { assumed: { ...assumed, ms: assumed.ms * slower } }) };
  });
}

/** One run tells as much as the content, three runs three times as much: a busy machine delays one step or another. */
function between(ms: number, expectedMs: number, runs: number): number {
  return Math.exp((runs * Math.log(Math.max(1, ms)) + Math.log(Math.max(1, expectedMs))) / (runs + 1));
}

/** Returns how much longer the known steps took than expected: so do the others; `null` where none is known. */
function speedRatio(expected: ExpectedStep[], known: number[][]): number | null {
  const steps = expected.flatMap(({ ms: expected_ms }, at) => {
    const ms = median(known[at] ?? []);
    return ms === null ? [] : [{ ms, expected_ms }];
  });
  return steps.length === 0 ? null : slownessOf(steps);
}

/** Shorter steps say little of the speed of a machine. */
const LEAST_MS = 1000;

function slownessOf(steps: { ms: number; expected_ms: number }[]): number {
  const took = steps.reduce((sum, { ms }) => sum + ms, LEAST_MS);
  return took / steps.reduce((sum, { expected_ms }) => sum + expected_ms, LEAST_MS);
}

/** Runs of other targets tell no more than this. */
const MOST_SLOWNESS = 3;

/** Newest runs by which a server is known. */
const COUNTED_OF_SERVER = 10;

/** Returns how much longer steps took than their content let expect, by step and for all others. */
function stepSlowness(entries: HistoryEntry[]): { of: Map<string, number>; all: number } {
  const timed = entries
    .slice(0, COUNTED_OF_SERVER)
    .flatMap(({ steps = [] }) =>
      steps.flatMap(({ step, ms, expected_ms }) => (expected_ms === undefined ? [] : [{ step, ms, expected_ms }])),
    );
  const of = Map.groupBy(timed, ({ step }) => step);
  const bounded = (slowness: number): number => Math.max(1 / MOST_SLOWNESS, Math.min(MOST_SLOWNESS, slowness));
  return {
    of: new Map([...of].map(([step, times]) => [step, bounded(slownessOf(times.slice(0, COUNTED)))])),
    all: bounded(slownessOf(timed)),
  };
}

function onServer(entries: HistoryEntry[], server: string | null): HistoryEntry[] {
  return entries.filter(({ from, to }) => server === null || [from, to].some((url) => hostOf(url) === server));
}

/** The server that does most of the work: the destination's, or that of the source. */
function serverOf({ configuration }: Pick<Context, 'configuration'>, { to, target }: AlikeRuns): string | null {
  return hostOf(to ?? configuration.settings.targets[target]?.snapshot?.src_url ?? null);
}

/** `null` for what is no URL of a server. */
function hostOf(url: string | null): string | null {
  return url === null || !URL.canParse(url) ? null : new URL(url).host;
}

function isAlike({ operation, target, to, method }: AlikeRuns) {
  return (entry: HistoryEntry): boolean =>
    entry.operation === operation &&
    entry.target === target &&
    (to === undefined || entry.to === to) &&
    (method === undefined || entry.method === method);
}
