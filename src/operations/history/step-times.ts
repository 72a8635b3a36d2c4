import type { StepTime } from '../../results/history-results.ts';
import type { Context } from '../../runtime/context.ts';

/** Steps of one run; a run of more is no base of an estimate. */
const MOST_STEPS = 60;

/** Returns a context whose steps are timed, and the durations of those that have ended, in the order of their starts. */
export function timeSteps(context: Context): { timed: Context; times: () => StepTime[] } {
  const begun: (StepTime & { at: number; ended: boolean })[] = [];
  const now = (): number => context.clock().getTime();
  const timed: Context = {
    ...context,
    report(event) {
      context.report(event);
      if (event.event !== 'step' || begun.length > MOST_STEPS) return;
      const { step, state } = event;
      const last = begun.findLast((other) => other.step === step && !other.ended);
      if (state === 'started' && !last) begun.push({ step, ms: 0, at: now(), ended: false });
      if (state === 'done' && last) Object.assign(last, { ms: Math.max(0, now() - last.at), ended: true });
    },
  };
  const times = () => begun.flatMap(({ step, ms, ended }) => (ended ? [{ step, ms }] : []));
  return { timed, times: () => (begun.length > MOST_STEPS ? [] : times()) };
}
