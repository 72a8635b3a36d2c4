/** The events of a run. Printers, log and screens consume the same stream. Field names are those of `--json`. */
export type RunEvent =
  | StepEvent
  | ProgressEvent
  | CommandEvent
  | CommandEndedEvent
  | StatementEvent
  | SignInEvent
  | WarningEvent;

export interface StepEvent {
  event: 'step';
  /** Stable within one command: `dump`, `restore`, `swap`. */
  step: string;
  state: 'started' | 'done' | 'skipped';
  label: string;
}

export interface ProgressEvent {
  event: 'progress';
  step: string;
  done: number;
  /** `null` when unknown; an estimate may grow. */
  total: number | null;
  unit: 'tables' | 'bytes' | 'rows' | 'statements' | 'layers' | 'targets';
  /** Bytes of the finished part, when `unit` is not bytes. */
  bytes?: number;
  /** The current item: `public.orders`. */
  current?: string;
  /** Progress of the current item, in the same unit. */
  of_current?: { done: number; total: number; bytes: number };
}

export interface CommandEvent {
  event: 'command';
  command: string;
}

export interface CommandEndedEvent {
  event: 'command_ended';
  command: string;
  /** `null` after a signal. */
  exit: number | null;
  duration_ms: number;
}

/** For the log only. */
export interface StatementEvent {
  event: 'statement';
  statement: string;
  /** `00000` after success; `null` when the connection was lost. */
  sqlstate: string | null;
  duration_ms: number;
}

export interface SignInEvent {
  event: 'sign_in';
  provider: string;
  url: string;
  /** The code to compare or type; `null` where the browser returns by itself. */
  user_code: string | null;
}

export interface WarningEvent {
  event: 'warning';
  code: string;
  message: string;
}

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
