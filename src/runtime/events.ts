/**
 * The one way in which work speaks. The plain printer, the JSON printer and the screens' store consume the same
 * stream; none of them is known to the work. Field names are those of the JSON that scripts read.
 */
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
  /** For people: `Dump 25 tables of postgres://app@db:5432/app`. */
  label: string;
}

export interface ProgressEvent {
  event: 'progress';
  step: string;
  done: number;
  /** `null` when nobody can know; an estimate may still grow. */
  total: number | null;
  unit: 'tables' | 'bytes' | 'rows' | 'statements' | 'layers';
  /** Bytes that went with what is done, where something else is counted. */
  bytes?: number;
  /** What is being worked on: `public.orders`. */
  current?: string;
  /** How far that is by itself, in the same unit. */
  of_current?: { done: number; total: number; bytes: number };
}

export interface CommandEvent {
  event: 'command';
  /** The command line that is run, without any secret. */
  command: string;
}

export interface CommandEndedEvent {
  event: 'command_ended';
  /** As in the event of its beginning. */
  command: string;
  /** `null` when a signal ended it. */
  exit: number | null;
  duration_ms: number;
}

/** For the log alone: neither printers nor screens show it. */
export interface StatementEvent {
  event: 'statement';
  /** The SQL that was sent, without any secret. */
  statement: string;
  /** `00000` when it succeeded; `null` when the connection was lost. */
  sqlstate: string | null;
  duration_ms: number;
}

/** A person is asked to go somewhere and sign in. */
export interface SignInEvent {
  event: 'sign_in';
  /** As the configuration calls it. */
  provider: string;
  url: string;
  /** What the page there shows or asks for; `null` where the browser comes back by itself. */
  user_code: string | null;
}

export interface WarningEvent {
  event: 'warning';
  code: string;
  message: string;
}

/** Takes events as they happen; must neither throw nor block. */
export type Report = (event: RunEvent) => void;

export interface Step<Result> {
  step: string;
  /** While it runs. */
  label: string;
  /** When it is done. */
  done: string | ((result: Result) => string);
}

/** Does work between the two events of a step; a failure reports no second one. */
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
