import type { KeyBinding } from '../app/key-binding.ts';
import { notLoadable } from '../app/why-not.ts';

/** What can be done with the tables of a snapshot. */
export const TABLE_KEYS: KeyBinding[] = [
  { keys: ['space', 'm'], action: 'mark', label: 'mark', help: 'mark the table, to load it' },
  {
    keys: ['l'],
    action: 'load',
    label: 'load marked',
    help: 'restore the marked tables and all that they need, the others without rows; shows the plan and asks first',
    whyNot: (facts) => notLoadable(facts) ?? (facts.marked.length === 0 ? 'Mark the tables to load: Space does' : null),
  },
];
