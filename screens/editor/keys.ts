import type { Facts } from '../app/facts.ts';
import type { KeyBinding } from '../app/key-binding.ts';
import { READ_ONLY } from '../app/why-not.ts';

export const EDIT_CONFIGURATION: KeyBinding = {
  keys: ['E'],
  action: 'edit-configuration',
  label: 'edit',
  help: 'edit the configuration: its sections as a tree, a form for each',
  whyNot: ({ readOnly, unconfigured }: Facts) =>
    readOnly ? READ_ONLY : unconfigured ? 'There is no configuration yet: i writes a first one' : null,
};

const typing = (facts: Facts): boolean => facts.typing;
const offering = (facts: Facts): boolean => facts.offering;

/** While a value is typed. */
export const TYPING_KEYS: KeyBinding[] = [
  {
    keys: ['enter'],
    action: 'open',
    label: 'take it',
    help: 'while typing: take what is typed, or the name that is chosen below it',
    when: typing,
    stays: true,
  },
  {
    keys: ['esc'],
    action: 'back',
    label: 'leave it',
    help: 'while typing: leave the value as it was',
    when: typing,
    stays: true,
  },
  {
    keys: ['down', 'up'],
    action: 'move-down',
    label: 'choose',
    help: 'while typing: choose among the names that exist, such as tables of the source',
    when: offering,
  },
  {
    keys: ['tab'],
    action: 'other-pane',
    label: 'complete',
    help: 'while typing: type the name that is chosen, or fits best',
    when: offering,
  },
];

export const EDITOR_KEYS: KeyBinding[] = [
  {
    keys: ['enter', 'right'],
    action: 'open',
    label: 'edit',
    help: 'to the form of the section; there, type or choose the value',
  },
  {
    keys: ['tab'],
    action: 'other-pane',
    label: 'tree or form',
    help: 'from the tree into the form, and back',
  },
  {
    keys: ['w', 'ctrl+s'],
    action: 'save',
    label: 'save',
    help: 'show what would change in the file, and save it',
    stays: true,
  },
  { keys: ['a'], action: 'add-entry', label: 'add', help: 'add to the map or list' },
  { keys: ['n'], action: 'rename-entry', label: 'rename', help: 'give the entry another name' },
  {
    keys: ['d'],
    action: 'remove-entry',
    label: 'take out',
    help: 'take the value or section out',
  },
  { keys: ['u'], action: 'undo-edit', label: 'undo', help: 'take the last change back' },
  {
    keys: ['p'],
    action: 'problems',
    label: 'problems',
    help: 'all problems, and to each of them',
  },
  {
    keys: ['space'],
    action: 'fold',
    label: 'fold',
    help: 'show or hide the sections of an entry, such as of a target',
  },
];
