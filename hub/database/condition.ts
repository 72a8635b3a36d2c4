import { Problem } from '../problem.ts';

/** The expected state of the changed resource: absent, or at a revision. */
export type Condition = { create: true } | { revision: number };

export function changedMeanwhile(name: string, condition: Condition): Problem {
  return 'create' in condition
    ? new Problem('cloud_changed', `"${name}" exists already`, {
        hint: 'Read it, and change the revision that it has.',
      })
    : new Problem('cloud_changed', `"${name}" was changed or removed in the meantime`, {
        hint: 'Read it again, and repeat the change.',
      });
}
