import type { Draft } from '../check-values.ts';
import type { KeyProblem } from '../key-problem.ts';
import type { Rule, Surroundings } from './rule.ts';

/** A rule that throws is a problem of its own and does not hide those of other rules. */
export function applyRules(rules: Rule[], draft: Draft, surroundings: Surroundings): KeyProblem[] {
  return rules.flatMap((rule) => {
    try {
      return rule(draft, surroundings);
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
