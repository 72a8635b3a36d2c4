import type { ProjectDatabase } from '../../src/operations/configuration/project-database.ts';
import type { SetUpPlan } from '../../src/operations/configuration/set-up.ts';
import type { TriedDestination, TriedSource } from '../../src/operations/configuration/try-connection.ts';
import type { EngineState } from '../../src/results/configuration-results.ts';
import type { NameWithSize } from '../../src/results/results.ts';

export type SetupStepId =
  | 'file'
  | 'target'
  | 'how'
  | 'programs'
  | 'url'
  | 'engine'
  | 'host'
  | 'port'
  | 'user'
  | 'password'
  | 'database'
  | 'schemas'
  | 'destination'
  | 'keep'
  | 'sourceVariable'
  | 'destinationVariable'
  | 'storage'
  | 'path'
  | 'bucket'
  | 'region'
  | 'endpoint'
  | 'account'
  | 'prefix'
  | 'credentials'
  | 'accessKey'
  | 'secretKey'
  | 'review'
  | 'done';

export type SetupAnswers = Partial<Record<SetupStepId, string>>;

/** The state that the questions of the wizard depend on. */
export interface SetupState {
  step: SetupStepId;
  /** The file given with `--config`, which is not asked for. */
  config: string | undefined;
  answers: SetupAnswers;
  /** Schemas excluded from snapshots. */
  leftOut: string[];
  found: SetupFound;
}

/** Results of the checks. */
export interface SetupFound {
  /** `null` until they are known. */
  engines: EngineState[] | null;
  databases: NameWithSize[];
  /** The local database that the environment files of the folder name. */
  project: ProjectDatabase | null;
  source: TriedSource | null;
  destination: TriedDestination | null;
  /** The question whose check found no client programs. */
  programsFor: SetupStepId | null;
  /** Profiles of the storage's command-line client. */
  cliProfiles: string[];
  /** The checked bucket, `s3://bucket/prefix`, or folder. */
  storage: string | null;
  plan: SetUpPlan | null;
}

interface StepBase {
  id: SetupStepId;
  about: (state: SetupState) => string[];
  /** Reports whether it applies to the answers so far. */
  when?: (state: SetupState) => boolean;
}

export interface TextStep extends StepBase {
  kind: 'text';
  label: string;
  initial?: (state: SetupState) => string;
  optional?: boolean;
  secret?: boolean;
}

export interface ChoiceStep extends StepBase {
  kind: 'choice';
  options: (state: SetupState) => { label: string; value: string }[];
}

export type SetupStep = TextStep | ChoiceStep | (StepBase & { kind: 'review' });

/** The answer that runs client programs in a container. */
export const CONTAINER = 'container';

/** A connection URL without a database. */
export const SERVER_URL = /^([a-z]+:\/\/[^/?#]+)\/?([?#].*)?$/i;

/** Reports whether the typed URL names a server without a database. */
export function lacksDatabase({ answers }: SetupState): boolean {
  return answers.how !== 'fields' && SERVER_URL.test(answers.url ?? '');
}
