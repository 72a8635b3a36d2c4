import type { Facts } from '../facts.ts';
import { noTarget, notFound, notWritable, READ_ONLY } from '../why-not.ts';

// The key table checks that these are bindings: to name its type here would be a circle of imports.

export const SUBSET = {
  keys: ['x'] as [string],
  action: 'subset' as const,
  label: 'subset',
  help: 'what a small database of this target would hold; makes it',
  whyNot: noTarget,
};

export const SUBSET_KEYS = [
  {
    keys: ['enter'] as [string],
    action: 'make-subset' as const,
    label: 'make it',
    help: 'make the subset as it is planned here; shows the plan and asks first',
    whyNot: (facts: Facts) => notWritable(facts) ?? notFound(facts),
  },
  {
    keys: ['e'] as [string],
    action: 'exclude-table' as const,
    label: 'exclude',
    help: 'leave the table empty, or take it in again',
  },
  {
    keys: ['c'] as [string],
    action: 'copy-table' as const,
    label: 'copy whole',
    help: 'take all rows of the table, or only those that are needed again',
  },
  {
    keys: ['+', '='] as [string, string],
    action: 'larger-share' as const,
    label: 'more',
    help: 'a larger share of the rows',
  },
  { keys: ['-'] as [string], action: 'smaller-share' as const, label: 'less', help: 'a smaller share of the rows' },
  {
    keys: ['w'] as [string],
    action: 'save-subset' as const,
    label: 'save',
    stays: true,
    help: 'write what was chosen here into the configuration, with comments kept',
    whyNot: ({ readOnly }: Facts) => (readOnly ? READ_ONLY : null),
  },
];
