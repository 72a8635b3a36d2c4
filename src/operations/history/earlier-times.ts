import type { HistoryEntry, StepTime } from '../../results/history-results.ts';
import type { Context } from '../../runtime/context.ts';
import type { ExpectedStep } from '../../state/overall-progress.ts';
import { readHistory } from './history-file.ts';
import { sizeRatio } from './load-estimate.ts';

/** The facts that earlier runs have in common with a planned one. */
export type AlikeRuns = Pick<HistoryEntry, 'operation' | 'target'> &
  Partial<Pick<HistoryEntry, 'to' | 'method'>> & { bytes?: number };

/** Newest runs that count. */
const COUNTED = 3;

/** Returns the steps with the durations that they had in earlier runs of the same steps; others as expected. */
export function withEarlierTimes(
  context: Pick<Context, 'configuration'>,
  expected: ExpectedStep[],
  alike: AlikeRuns,
): ExpectedStep[] {
  const runs = earlierRuns(context, alike).flatMap(({ steps = [], size_bytes }) => {
    const times = inOrder(expected, steps);
    return times ? [{ times, ratio: sizeRatio(size_bytes, alike.bytes ?? size_bytes) }] : [];
  });
  const counted = runs.slice(0, COUNTED);
  const known = expected.map((_, at) =>
    median(counted.flatMap(({ times, ratio }) => (times[at] == null ? [] : [times[at] * ratio]))),
  );
  const factor = speedRatio(expected, known);
  return expected.map(({ assumedBytes, ...step }, at) => {
    const ms = known[at] ?? null;
    if (ms !== null) return { ...step, ms };
    return { ...step, ms: step.ms * factor, ...(assumedBytes !== undefined && { assumedBytes }) };
  });
}

/** Returns how much longer the known steps took than expected: so do the others. */
function speedRatio(expected: ExpectedStep[], known: (number | null)[]): number {
  const sums = expected.reduce(
    (sum, { ms }, at) => (known[at] == null ? sum : { took: sum.took + known[at], of: sum.of + ms }),
    { took: LEAST_MS, of: LEAST_MS },
  );
  return sums.took / sums.of;
}

/** Shorter runs say little of the speed of a machine. */
const LEAST_MS = 300;

function median(values: number[]): number | null {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}

function earlierRuns(context: Pick<Context, 'configuration'>, alike: AlikeRuns): HistoryEntry[] {
  const { operation, target, to, method } = alike;
  try {
    return readHistory(context).entries.filter(
      (entry) =>
        entry.operation === operation &&
        entry.target === target &&
        entry.outcome === 'done' &&
        (to === undefined || entry.to === to) &&
        (method === undefined || entry.method === method),
    );
  } catch {
    return [];
  }
}

/** The times of the expected steps, `null` for those that did not come; `null` of a run with other steps. */
function inOrder(expected: ExpectedStep[], steps: StepTime[]): (number | null)[] | null {
  const times = expected.map((): number | null => null);
  let next = 0;
  for (const { step, ms } of steps) {
    const at = expected.findIndex((other, index) => index >= next && other.step === step);
    if (at === -1) return null;
    times[at] = ms;
    next = at + 1;
  }
  return steps.length === 0 ? null : times;
}
