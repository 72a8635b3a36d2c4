import type { StepTime } from '../../results/history-results.ts';
import type { Context } from '../../runtime/context.ts';

/** Of the steps of one run; a run of more is not estimated by it. */
const MOST_STEPS = 60;

/** Returns a context whose steps are timed, and their durations so far. */
export function timeSteps(context: Context): { timed: Context; times: () => StepTime[] } {
  const open = new Map<string, number>();
  const ended: StepTime[] = [];
  const now = (): number => context.clock().getTime();
  const timed: Context = {
    ...context,
    report(event) {
      context.report(event);
      if (event.event !== 'step' || ended.length > MOST_STEPS) return;
      const { step, state } = event;
      if (state === 'started') open.set(step, now());
      else if (state === 'done') ended.push({ step, ms: Math.max(0, now() - (open.get(step) ?? now())) });
    },
  };
  return { timed, times: () => (ended.length > MOST_STEPS ? [] : ended) };
}
