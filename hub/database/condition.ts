import { Problem } from '../problem.ts';

/** The expected state of the changed resource: absent, or at a revision. */
export type Condition = { create: true } | { revision: number };

/** Refuses a change of another revision of a resource than the present one, and a creation of one that exists. */
export function assertCondition(name: string, condition: Condition, present: { revision: number } | null): void {
  const isMet = 'create' in condition ? present === null : present?.revision === condition.revision;
  if (!isMet) throw changedMeanwhile(name, condition);
}

export function changedMeanwhile(name: string, condition: Condition): Problem {
  return 'create' in condition
    ? new Problem('cloud_changed', `"${name}" exists already`, {
        hint: 'Read it, and change the revision that it has.',
      })
    : new Problem('cloud_changed', `"${name}" was changed or removed in the meantime`, {
        hint: 'Read it again, and repeat the change.',
      });
}
