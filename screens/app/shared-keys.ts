import type { KeyBinding } from './key-binding.ts';
import { noTarget, notWritable, READ_ONLY } from './why-not.ts';

// Keys that several screens have, or that read better by a name.

const PAGES: KeyBinding[] = [
  { keys: ['pageup', 'ctrl+b'], action: 'page-up', help: 'a page up' },
  { keys: ['pagedown', 'ctrl+f'], action: 'page-down', help: 'a page down' },
  { keys: ['home', 'g'], action: 'move-first', help: 'to the beginning' },
  { keys: ['end', 'G'], action: 'move-last', help: 'to the end' },
];
/** Where Tab has a meaning of its own. */
export const MOVES_WITHOUT_TAB: KeyBinding[] = [
  { keys: ['up', 'k'], action: 'move-up', help: 'up' },
  { keys: ['down', 'j'], action: 'move-down', help: 'down' },
  ...PAGES,
];
export const MOVES: KeyBinding[] = [
  { keys: ['up', 'k', 'shift+tab'], action: 'move-up', help: 'up' },
  { keys: ['down', 'j', 'tab'], action: 'move-down', help: 'down' },
  ...PAGES,
];

export const HELP: KeyBinding = { keys: ['?'], action: 'help', label: 'help', help: 'these keys', stays: true };
export const PALETTE: KeyBinding = {
  keys: [':'],
  action: 'palette',
  label: 'commands',
  help: 'every action, found by some letters of its name',
};
export const COPY: KeyBinding = {
  keys: ['y'],
  action: 'copy',
  label: 'copy URL',
  help: 'copy the connection URL, without its password',
  whyNot: noTarget,
};
export const SET_UP: KeyBinding = {
  keys: ['i'],
  action: 'set-up',
  label: 'set up',
  help: 'write a first configuration, question by question',
  when: ({ unconfigured }) => unconfigured,
  whyNot: (facts) => (facts.readOnly ? READ_ONLY : null),
};
export const SORT: KeyBinding = {
  keys: ['S'],
  action: 'sort',
  label: 'sort',
  help: 'by the configuration, name, status, size, snapshots or age of the last one, one after the other',
};
export const DOCTOR: KeyBinding = {
  keys: ['D'],
  action: 'doctor',
  label: 'check',
  help: 'look at the configuration and all it needs',
};
export const MOUSE: KeyBinding = {
  keys: ['M'],
  action: 'mouse',
  help: 'the mouse on or off: wheel and click, instead of the selecting of text',
};
export const BACK: KeyBinding = {
  keys: ['esc', 'left'],
  action: 'back',
  label: 'back',
  help: 'back by one level',
  stays: true,
};
export const QUIT: KeyBinding = {
  keys: ['q'],
  action: 'quit',
  label: 'quit',
  help: 'leave; asks when work is going on',
  when: ({ atRoot }) => atRoot,
  stays: true,
};
export const FILTER: KeyBinding[] = [
  { keys: ['/'], action: 'filter', label: 'filter', help: 'show only what contains the words you type' },
  {
    keys: ['esc'],
    action: 'clear-filter',
    label: 'clear filter',
    help: 'show everything again',
    when: ({ filtered }) => filtered,
    stays: true,
  },
];
export const TASKS: KeyBinding = {
  keys: ['t'],
  action: 'tasks',
  label: 'tasks',
  help: 'all work of this session: running, waiting for its turn, ended',
  when: ({ tasks }) => tasks > 0,
};
export const MESSAGES: KeyBinding = {
  keys: ['H'],
  action: 'messages',
  label: 'messages',
  help: 'what has come of the work of this session, to read again',
  when: ({ tasks }) => tasks > 0,
};
export const BUILD: KeyBinding = {
  keys: ['b'],
  action: 'build',
  label: 'build',
  help: 'take a snapshot of the source database',
  whyNot: (facts) =>
    notWritable(facts) ??
    noTarget(facts) ??
    (facts.target?.row.src_url ? null : `${facts.target?.row.name} has no source database (snapshot.src_url)`),
};
export const REFRESH: KeyBinding = { keys: ['r'], action: 'refresh', label: 'refresh', help: 'look again' };
export const UNDO: KeyBinding = {
  keys: ['u'],
  action: 'undo',
  label: 'undo load',
  help: 'put the database that the last load replaced back',
  whyNot: (facts) => notWritable(facts) ?? noTarget(facts),
};
