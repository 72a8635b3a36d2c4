import type { Facts } from '../app/facts.ts';
import type { KeyBinding } from '../app/key-binding.ts';
import { noTarget, notFound, notWritable, READ_ONLY } from '../app/why-not.ts';

export const SUBSET: KeyBinding = {
  keys: ['x'],
  action: 'subset',
  label: 'subset',
  help: 'what a small database of this target would hold; makes it',
  whyNot: noTarget,
};

export const SUBSET_KEYS: KeyBinding[] = [
  {
    keys: ['enter'],
    action: 'make-subset',
    label: 'make it',
    help: 'make the subset as it is planned here; shows the plan and asks first',
    whyNot: (facts: Facts) => notWritable(facts) ?? notFound(facts),
  },
  {
    keys: ['e'],
    action: 'exclude-table',
    label: 'exclude',
    help: 'leave the table empty, or take it in again',
  },
  {
    keys: ['c'],
    action: 'copy-table',
    label: 'copy whole',
    help: 'take all rows of the table, or only those that are needed again',
  },
  {
    keys: ['+', '='],
    action: 'larger-share',
    label: 'more',
    help: 'a larger share of the rows',
  },
  { keys: ['-'], action: 'smaller-share', label: 'less', help: 'a smaller share of the rows' },
  {
    keys: ['w'],
    action: 'save-subset',
    label: 'save',
    stays: true,
    help: 'write what was chosen here into the configuration, with comments kept',
    whyNot: ({ readOnly }: Facts) => (readOnly ? READ_ONLY : null),
  },
];
