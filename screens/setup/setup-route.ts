import type { TextEdit } from '../../components/text-edit.ts';
import type { EngineState } from '../../src/operations/configuration/check.ts';
import type { SetUpPlan } from '../../src/operations/configuration/set-up.ts';
import type { TriedDestination, TriedSource } from '../../src/operations/configuration/try-connection.ts';
import type { Sized } from '../../src/results/results.ts';
import type { UserError } from '../../src/runtime/errors.ts';
import type { SetupAnswers, SetupStepId } from './step-ids.ts';

declare module '../app/route.ts' {
  interface Routes {
    setup: SetupRoute;
  }
}

/** The wizard for a first configuration. */
export interface SetupRoute {
  screen: 'setup';
  step: SetupStepId;
  /** The file given with `--config`, which is not asked for. */
  config: string | undefined;
  answers: SetupAnswers;
  /** Schemas excluded from snapshots. */
  leftOut: string[];
  found: SetupFound;
  typing: TextEdit | null;
  /** Ends the running check; `null` when there is none. */
  busy: AbortController | null;
  scrolledUp: number;
  error: UserError | null;
}

/** Results of the checks. */
export interface SetupFound {
  /** `null` until they are known. */
  engines: EngineState[] | null;
  databases: Sized[];
  source: TriedSource | null;
  destination: TriedDestination | null;
  /** Profiles of the storage's command-line client. */
  cliProfiles: string[];
  /** The checked bucket: `s3://bucket/prefix`. */
  storage: string | null;
  plan: SetUpPlan | null;
}
