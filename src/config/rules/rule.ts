import type { AwsProfile } from '../aws-profiles.ts';
import type { Draft } from '../check-values.ts';
import type { KeyProblem } from '../key-problem.ts';
import type { KeyPath } from '../tree.ts';

/** A check of what several keys say together. It is given what is right so far, so anything may be missing. */
export type Rule = (draft: Draft, surroundings: Surroundings) => KeyProblem[];

/** What the draft itself does not say. */
export interface Surroundings {
  /** Whether a value is written at a path, be it right or wrong: what is wrong is not also called missing. */
  isWritten: (path: KeyPath) => boolean;
  environment: NodeJS.ProcessEnv;
  awsProfiles: Map<string, AwsProfile>;
}

export type TargetDraft = NonNullable<NonNullable<Draft['targets']>[string]>;

/** The targets that are there, by name. */
export function targetsOf(draft: Draft): [string, TargetDraft][] {
  return Object.entries(draft.targets ?? {}).flatMap(([name, target]) => (target ? [[name, target]] : []));
}

export type ProfileDraft = NonNullable<NonNullable<Draft['storage_profiles']>[string]>;

/** The storage profiles that are there, by name. */
export function profilesOf(draft: Draft): [string, ProfileDraft][] {
  return Object.entries(draft.storage_profiles ?? {}).flatMap(([name, profile]) => (profile ? [[name, profile]] : []));
}
