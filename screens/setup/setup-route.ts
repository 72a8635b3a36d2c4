import type { TextEdit } from '../../components/text-edit.ts';
import type { UserError } from '../../src/errors.ts';
import type { EngineState } from '../../src/operations/configuration/check.ts';
import type { SetUpPlan } from '../../src/operations/configuration/set-up.ts';
import type { TriedDestination, TriedSource } from '../../src/operations/configuration/try-connection.ts';
import type { Sized } from '../../src/results.ts';
import type { SetupAnswers, SetupStepId } from './step-ids.ts';

declare module '../app/route.ts' {
  interface Routes {
    setup: SetupRoute;
  }
}

/** The wizard for a first configuration. */
export interface SetupRoute {
  screen: 'setup';
  /** Which question. */
  step: SetupStepId;
  /** The file given with `--config`: it is not asked for then. */
  config: string | undefined;
  answers: SetupAnswers;
  /** Schemas that do not belong into a snapshot. */
  leftOut: string[];
  found: SetupFound;
  typing: TextEdit | null;
  /** Ends what is being tried or written; `null` when nothing is. */
  busy: AbortController | null;
  /** Lines that the file is scrolled up. */
  scrolledUp: number;
  error: UserError | null;
}

/** What the wizard has found out so far. */
export interface SetupFound {
  /** `null` until they have been looked for. */
  engines: EngineState[] | null;
  databases: Sized[];
  source: TriedSource | null;
  destination: TriedDestination | null;
  /** Profiles of the storage's command-line client. */
  cliProfiles: string[];
  /** The bucket that was tried: `s3://bucket/prefix`. */
  storage: string | null;
  plan: SetUpPlan | null;
}
