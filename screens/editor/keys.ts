import type { Facts } from '../facts.ts';
import { READ_ONLY } from '../why-not.ts';

// The key table checks that these are bindings: to name its type here would be a circle of imports.

export const EDIT_CONFIGURATION = {
  keys: ['E'] as [string],
  action: 'edit-configuration' as const,
  label: 'edit',
  help: 'edit the configuration: its sections as a tree, a form for each',
  whyNot: ({ readOnly, unconfigured }: Facts) =>
    readOnly ? READ_ONLY : unconfigured ? 'There is no configuration yet: i writes a first one' : null,
};

const typing = (facts: Facts): boolean => facts.typing;
const offering = (facts: Facts): boolean => facts.offering;

/** While a value is typed. */
export const TYPING_KEYS = [
  {
    keys: ['enter'] as [string],
    action: 'open' as const,
    label: 'take it',
    help: 'while typing: take what is typed, or the name that is chosen below it',
    when: typing,
    stays: true,
  },
  {
    keys: ['esc'] as [string],
    action: 'back' as const,
    label: 'leave it',
    help: 'while typing: leave the value as it was',
    when: typing,
    stays: true,
  },
  {
    keys: ['down', 'up'] as [string, string],
    action: 'move-down' as const,
    label: 'choose',
    help: 'while typing: choose among the names that exist, such as tables of the source',
    when: offering,
  },
  {
    keys: ['tab'] as [string],
    action: 'other-pane' as const,
    label: 'complete',
    help: 'while typing: type the name that is chosen, or fits best',
    when: offering,
  },
];

export const EDITOR_KEYS = [
  {
    keys: ['enter', 'right'] as [string, string],
    action: 'open' as const,
    label: 'edit',
    help: 'to the form of the section; there, type or choose the value',
  },
  {
    keys: ['tab'] as [string],
    action: 'other-pane' as const,
    label: 'tree or form',
    help: 'from the tree into the form, and back',
  },
  {
    keys: ['w', 'ctrl+s'] as [string, string],
    action: 'save' as const,
    label: 'save',
    help: 'show what would change in the file, and save it',
    stays: true,
  },
  { keys: ['a'] as [string], action: 'add-entry' as const, label: 'add', help: 'add to the map or list' },
  { keys: ['n'] as [string], action: 'rename-entry' as const, label: 'rename', help: 'give the entry another name' },
  {
    keys: ['d'] as [string],
    action: 'remove-entry' as const,
    label: 'take out',
    help: 'take the value or section out',
  },
  { keys: ['u'] as [string], action: 'undo-edit' as const, label: 'undo', help: 'take the last change back' },
  {
    keys: ['p'] as [string],
    action: 'problems' as const,
    label: 'problems',
    help: 'all problems, and to each of them',
  },
  {
    keys: ['space'] as [string],
    action: 'fold' as const,
    label: 'fold',
    help: 'show or hide the sections of an entry, such as of a target',
  },
];
