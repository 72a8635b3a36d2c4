import type { RawParts } from '../../src/config/urls/raw-parts.ts';
import type { TriedDestination, TriedSource } from '../../src/operations/configuration/check/try-connection.ts';
import type { ProjectDatabase } from '../../src/operations/configuration/project-database.ts';
import type { SetUpPlan } from '../../src/operations/configuration/set-up.ts';
import type { EngineState } from '../../src/results/configuration/configuration-results.ts';
import type { NameWithSize } from '../../src/results/results.ts';

export type SetupStepId =
  | 'file'
  | 'programs'
  | 'url'
  | 'database'
  | 'target'
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
  | 'git'
  | 'review'
  | 'done';

export type SetupAnswers = Partial<Record<SetupStepId, string>>;

/** The fields of the source, on one form. */
export const SOURCE_FIELDS = ['url', 'scheme', 'host', 'port', 'user', 'password', 'database'] as const;
export type SourceField = (typeof SOURCE_FIELDS)[number];

export interface SourceForm {
  /** The one that receives the keys. */
  field: SourceField;
  /** The parts of the URL in the answers; defaults where that is none. */
  parts: RawParts;
}

/** The state that the questions of the wizard depend on. */
export interface SetupState {
  step: SetupStepId;
  /** The file given with `--config`, which is not asked for. */
  config: string | undefined;
  answers: SetupAnswers;
  form: SourceForm;
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

/** `form`: the fields of the source; `review`: the file. */
export type SetupStep = TextStep | ChoiceStep | (StepBase & { kind: 'form' | 'review' });

/** The answer that runs client programs in a container. */
export const CONTAINER = 'container';

/** A connection URL without a database. */
export const SERVER_URL = /^([a-z]+:\/\/[^/?#]+)\/?([?#].*)?$/i;

/** Reports whether the typed URL names a server without a database. */
export function lacksDatabase({ answers }: SetupState): boolean {
  return SERVER_URL.test(answers.url ?? '');
}
