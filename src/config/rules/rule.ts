import type { AwsProfile } from '../aws-profiles.ts';
import type { Draft } from '../problems/check-values.ts';
import type { KeyProblem } from '../problems/key-problem.ts';
import type { KeyPath } from '../tree.ts';

/** A check across several keys. Its input is the valid part only, so any key may be missing. */
export type ConfigurationRule = (draft: Draft, surroundings: RuleContext) => Iterable<KeyProblem>;

export interface RuleContext {
  /** Reports whether a value is written at a path, valid or not: an invalid value is not also missing. */
  isWritten: (path: KeyPath) => boolean;
  environment: NodeJS.ProcessEnv;
  awsProfiles: Map<string, AwsProfile>;
}

/** A warning that concerns a key, whatever its value. */
export const ADVICE = { severity: 'warning', at: 'key' } as const;

export type TargetDraft = NonNullable<NonNullable<Draft['targets']>[string]>;

export function targetsOf(draft: Draft): [string, TargetDraft][] {
  return Object.entries(draft.targets ?? {}).flatMap(([name, target]) => (target ? [[name, target]] : []));
}

export type ProfileDraft = NonNullable<NonNullable<Draft['storage_profiles']>[string]>;

export function profilesOf(draft: Draft): [string, ProfileDraft][] {
  return Object.entries(draft.storage_profiles ?? {}).flatMap(([name, profile]) => (profile ? [[name, profile]] : []));
}
