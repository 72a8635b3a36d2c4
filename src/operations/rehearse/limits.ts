import type { RehearsalLimits, RehearsalResult } from '../../results/review/rehearsal-results.ts';
import { formatBytes, formatDuration, formatNumberOf } from '../../text/format.ts';

type Observations = Pick<RehearsalResult, 'works' | 'locks' | 'rewritten_bytes' | 'warnings'>;

/** Judges a rehearsal by its limits. A lock that nobody waits for crosses none. */
export function problemsOf(
  { works, locks, rewritten_bytes, warnings }: Observations,
  { max_lock_ms, max_rewrite_bytes, fail_on_warning }: RehearsalLimits,
): Pick<RehearsalResult, 'outcome' | 'problems'> {
  const failed = works
    .filter((work) => work.failed)
    .map(({ run, exit }) => ({
      code: 'rehearsal_failed',
      message: exit === null ? `${run} failed` : `${run} failed with exit code ${exit}`,
    }));
  const long = locks
    .filter(({ blocks, held_ms }) => max_lock_ms !== undefined && blocks !== 'none' && held_ms > max_lock_ms)
    .map(
      ({ table, mode, held_ms }) =>
        `${mode} on ${table} was held for ${formatDuration(held_ms)}, longer than ${formatDuration(max_lock_ms ?? 0)}`,
    );
  const isLarge = max_rewrite_bytes !== undefined && rewritten_bytes > max_rewrite_bytes;
  const large = isLarge
    ? [`${formatBytes(rewritten_bytes)} were rewritten, more than ${formatBytes(max_rewrite_bytes)}`]
    : [];
  const warned =
    fail_on_warning && warnings.length > 0
      ? [`${formatNumberOf(warnings.length, 'warning')}, and --fail-on warning permits none`]
      : [];
  const crossed = [...long, ...large, ...warned].map((message) => ({ code: 'rehearsal_over_limit', message }));
  const outcome = failed.length > 0 ? 'failed' : crossed.length > 0 ? 'over_limit' : 'passed';
  return { outcome, problems: [...failed, ...crossed] };
}
