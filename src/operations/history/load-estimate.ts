import type { HistoryEntry, LoadEstimate } from '../../results/history-results.ts';
import type { LoadPlan } from '../../results/load-results.ts';
import type { Context } from '../../runtime/context.ts';
import { knownEntries } from './history-file.ts';
import { methodOf } from './load-method.ts';

/** Newest loads that count. */
const COUNTED = 5;
/** Sizes that differ by no more are the same. */
const ALIKE = 1.5;
/** Loads of less take as long as one of this: most of it are fixed costs. */
const LEAST_BYTES = 16_000_000;

/** By the median of earlier loads into the same destination, in the same way; `null` without one. */
export function estimateLoad(context: Pick<Context, 'configuration'>, plan: LoadPlan): LoadEstimate | null {
  const loads = knownEntries(context)
    .filter((entry) => isAlike(entry, plan))
    .slice(0, COUNTED);
  const durations = loads.map(({ duration_ms, size_bytes }) => duration_ms * sizeRatio(size_bytes, plan.size_bytes));
  const duration_ms = median(durations);
  return duration_ms === null ? null : { duration_ms: Math.round(duration_ms), loads: durations.length };
}

export function median(values: number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}

function isAlike(entry: HistoryEntry, plan: LoadPlan): boolean {
  const { operation, outcome, to, method, from, size_bytes } = entry;
  if (operation !== 'load' || outcome !== 'done' || to !== plan.destination.url || method !== methodOf(plan)) {
    return false;
  }
  return method === 'script' ? from === plan.file : size_bytes !== null && method !== 'tables' && method !== 'rows';
}

/** Returns how much longer work on so many bytes takes; 1 where a size is unknown. */
export function sizeRatio(before: number | null, now: number | null): number {
  if (!before || !now) return 1;
  const ratio = Math.max(now, LEAST_BYTES) / Math.max(before, LEAST_BYTES);
  return ratio > ALIKE || ratio < 1 / ALIKE ? ratio : 1;
}
