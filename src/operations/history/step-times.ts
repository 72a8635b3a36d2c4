import type { StepTime } from '../../results/history-results.ts';
import type { Context } from '../../runtime/context.ts';
import type { ExpectedStep } from '../../state/overall-progress.ts';

/** Steps of one run; a run of more is no base of an estimate. */
const MOST_STEPS = 60;

/**
 * Returns a context whose steps are timed, and the durations of those that have ended, in the order of their starts. The
 * time between two steps counts for the second one.
 */
export function timeSteps(context: Context): { timed: Context; times: () => StepTime[] } {
  const begun: (StepTime & { at: number; ended: boolean })[] = [];
  const now = (): number => context.clock().getTime();
  let ended: number | null = null;
  const timed: Context = {
    ...context,
    report(event) {
      context.report(event);
      if (event.event !== 'step' || begun.length > MOST_STEPS) return;
      const { step, state } = event;
      const last = begun.findLast((other) => other.step === step && !other.ended);
      if (state === 'started' && !last) {
        const isAlone = begun.every((other) => other.ended);
        begun.push({ step, ms: 0, at: (isAlone ? ended : null) ?? now(), ended: false });
      }
      if (state === 'done' && last) {
        ended = now();
        Object.assign(last, { ms: Math.max(0, ended - last.at), ended: true });
      }
    },
  };
  const times = () => begun.flatMap(({ step, ms, ended }) => (ended ? [{ step, ms }] : []));
  return { timed, times: () => (begun.length > MOST_STEPS ? [] : times()) };
}

/** Returns the times with the durations that the content let expect; as they are where the steps are others. */
export function withExpectedTimes(times: StepTime[], expected: ExpectedStep[]): StepTime[] {
  const places = placesOf(times, expected);
  return times.map((time, at) => {
    const ms = expected[places?.[at] ?? -1]?.ms;
    return ms === undefined ? time : { ...time, expected_ms: Math.round(ms) };
  });
}

/** The times of the expected steps, `null` for those that did not come; `null` of a run without any of them. */
export function inOrder(expected: ExpectedStep[], times: StepTime[]): (number | null)[] | null {
  const places = placesOf(times, expected);
  return places && expected.map((_, at) => times[places.indexOf(at)]?.ms ?? null);
}

/** Returns the places of the steps among the expected ones, -1 for others; `null` where all are others. */
function placesOf(times: StepTime[], expected: ExpectedStep[]): number[] | null {
  let last = -1;
  const places = times.map(({ step }) => {
    const at = expected.findIndex((other, index) => index > last && other.step === step);
    last = Math.max(last, at);
    return at;
  });
  return last === -1 ? null : places;
}
