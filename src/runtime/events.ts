import type { RunEvent } from '../results/events.ts';

/** Must neither throw nor block. */
export type Report = (event: RunEvent) => void;

export interface Step<Result> {
  step: string;
  label: string;
  done: string | ((result: Result) => string);
}

/** Runs `work` between the two events of a step; a failure reports no second event. */
export async function withStep<Result>(
  report: Report,
  { step, label, done }: Step<Result>,
  work: () => Promise<Result>,
): Promise<Result> {
  const end = startStep(report, step, label);
  const result = await work();
  end(typeof done === 'string' ? done : done(result));
  return result;
}

/** For a step whose resources outlive it; the function that is returned ends the step. */
export function startStep(report: Report, step: string, label: string): (done: string) => void {
  report({ event: 'step', step, state: 'started', label });
  return (done) => report({ event: 'step', step, state: 'done', label: done });
}

/** Closes a step that has begun and will not end, of work that another one follows. */
export function skipStep(report: Report, step: string, label: string): void {
  report({ event: 'step', step, state: 'skipped', label });
}
