import type { Facts } from '../app/facts.ts';
import type { KeyBinding } from '../app/key-binding.ts';
import { noSnapshot, notWritable, READ_ONLY } from '../app/why-not.ts';

export const SANITIZE: KeyBinding = {
  keys: ['s'],
  action: 'sanitize',
  label: 'sanitize',
  help: 'run the sanitization query on a copy of the snapshot; shows the plan and asks first',
  whyNot: (facts: Facts) => notWritable(facts) ?? (facts.run ? null : noSnapshot(facts)),
};

export const SANITIZE_AGAIN: KeyBinding = {
  ...SANITIZE,
  label: 'sanitize again',
  help: 'sanitize the same snapshot again, with the query as it is now',
};

export const SHOW_COVERAGE: KeyBinding = {
  keys: ['enter', 'right'],
  action: 'coverage',
  label: 'coverage',
  help: 'what the sanitization query has changed and what it has not',
  when: ({ run }: Facts) => run?.receipt?.sanitized !== undefined,
};

export const EDIT_QUERY: KeyBinding = {
  keys: ['e'],
  action: 'edit-query',
  label: 'edit the query',
  help: 'open the file of the query in $VISUAL or $EDITOR',
  whyNot({ run, readOnly }: Facts): string | null {
    if (readOnly) return READ_ONLY;
    return run?.receipt?.sanitized?.queryFile ? null : 'The query is in the configuration, not in a file';
  },
};
