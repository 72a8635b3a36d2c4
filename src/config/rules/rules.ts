import type { Draft } from '../problems/check-values.ts';
import type { KeyProblem } from '../problems/key-problem.ts';
import { commandKeysDiffer } from './command-keys.ts';
import type { ConfigurationRule, RuleContext } from './rule.ts';
import { servicesKeepTheirHosts } from './service.ts';
import { originalsAreNotShared } from './shared-originals.ts';
import { encryptedBucketsHaveKeys, storageProfilesAreComplete, storageProfilesExist } from './storage.ts';
import { cliProfilesAreUsable, storageCredentialsAreKept } from './storage-credentials.ts';
import {
  operationsAreComplete,
  schemaConfigNeedsSchemas,
  schemaListsDiffer,
  stepsDoOneThing,
  subsetTablesChooseRows,
  targetsDoSomething,
} from './targets.ts';
import { allowedTargetsExist, destinationsAreNoSources, enginesAgree } from './urls.ts';

export const RULES: ConfigurationRule[] = [
  targetsDoSomething,
  operationsAreComplete,
  schemaListsDiffer,
  subsetTablesChooseRows,
  stepsDoOneThing,
  storageProfilesExist,
  storageProfilesAreComplete,
  encryptedBucketsHaveKeys,
  storageCredentialsAreKept,
  cliProfilesAreUsable,
  schemaConfigNeedsSchemas,
  enginesAgree,
  destinationsAreNoSources,
  allowedTargetsExist,
  servicesKeepTheirHosts,
  originalsAreNotShared,
  commandKeysDiffer,
];

/** A rule that throws is a problem of its own and does not hide those of other rules. */
export function applyRules(rules: ConfigurationRule[], draft: Draft, surroundings: RuleContext): KeyProblem[] {
  return rules.flatMap((rule) => {
    try {
      return [...rule(draft, surroundings)];
    } catch (error) {
      return [ruleFailed(rule.name, error)];
    }
  });
}

function ruleFailed(rule: string, error: unknown): KeyProblem {
  const reason = error instanceof Error ? error.message : String(error);
  return {
    path: [],
    code: 'check_failed',
    message: `the check ${rule} failed: ${reason}`,
    hint: 'This is a defect of the tool. Report it with the part of the file that the check is about.',
  };
}
