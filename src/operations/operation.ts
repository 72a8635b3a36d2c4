import type { Question } from '../presentation/shapes/question.ts';
import type { DestinationState } from '../results/load-results.ts';
import type { Context } from '../runtime/context.ts';
import type { ExpectedStep } from '../state/overall-progress.ts';
import type { RunKind, RunSummary } from '../state/runs.ts';
import type { AlikeRuns } from './history/earlier-times.ts';
import type { Planned } from './planned.ts';

/**
 * One operation that plans before it changes something. Commands, screens and tools for agents derive from it: each
 * adds only how a person or an agent states the request.
 */
export interface Operation<Request, P extends Planned<Request, unknown>, Result>
  extends PlannedWork<Request, P, Result>,
    EstimatedWork<P> {
  /** Name as on the command line: `load`, `branch create`. */
  id: string;
  kind: RunKind;
  question: (plan: P['plan'], now: Date) => Question;
  /** Reports whether the plan needs an answer. Default: always. */
  asks?: (plan: P['plan']) => boolean;
  /** Names the run by its verb and object: `load 58f7fad5 → shop_dev`. Default: the title of the question. */
  title?: (plan: P['plan']) => string;
  summary: (result: Result, plan: P['plan']) => RunSummary;
  replaces?: (plan: P['plan']) => ReplacedDatabase | null;
  /** Reports whether the data is sanitized; `null` where that is not known. */
  sanitized?: (plan: P['plan']) => boolean | null;
}

export interface EstimatedWork<P extends { plan: unknown }> {
  /** All steps of the run, in order, with estimated durations. */
  steps?: (plan: P['plan']) => ExpectedStep[];
  /** Earlier runs that tell how long the steps take. */
  alike?: (plan: P['plan']) => AlikeRuns;
}

export interface PlannedWork<Request, P, Result> {
  id: string;
  /** Loads the code that plans and applies, which needs engines and repositories. */
  work: () => Promise<{
    /** Changes nothing. Throws when a guard refuses or a check fails. */
    plan: (context: Context, request: Request) => Promise<P>;
    /** Throws `plan_outdated` when something has changed since the plan was made. */
    apply: (context: Context, planned: P) => Promise<Result>;
  }>;
}

export interface ReplacedDatabase {
  database: DestinationState;
  /** The database is unchanged until the last step, and its previous version can be restored. */
  bySwap: boolean;
}

export function defineOperation<Request, P extends Planned<Request, unknown>, Result>(
  operation: Operation<Request, P, Result>,
): Operation<Request, P, Result> {
  return operation;
}
