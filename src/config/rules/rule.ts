import type { AwsProfile } from '../aws-profiles.ts';
import type { Draft } from '../check-values.ts';
import type { Finding } from '../finding.ts';

/** A check of what several keys say together. It is given what is right so far, so anything may be missing. */
export type Rule = (draft: Draft, surroundings: Surroundings) => Finding[];

/** What a configuration refers to outside of itself. */
export interface Surroundings {
  environment: NodeJS.ProcessEnv;
  awsProfiles: Map<string, AwsProfile>;
}

export type TargetDraft = NonNullable<NonNullable<Draft['targets']>[string]>;

/** The targets that are there, by name. */
export function targetsOf(draft: Draft): [string, TargetDraft][] {
  return Object.entries(draft.targets ?? {}).flatMap(([name, target]) => (target ? [[name, target]] : []));
}
