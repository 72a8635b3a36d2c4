import { EDIT_QUERY, SANITIZE, SANITIZE_AGAIN, SHOW_COVERAGE } from '../coverage/keys.ts';
import { DOCTOR_KEYS } from '../doctor/keys.ts';
import { EDIT_CONFIGURATION, EDITOR_KEYS, TYPING_KEYS } from '../editor/keys.ts';
import { LOG_KEYS, RUN_KEYS } from '../run/keys.ts';
import { LOAD_LATEST, SNAPSHOT_KEYS } from '../snapshots/snapshot-keys.ts';
import { SUBSET, SUBSET_KEYS } from '../subset/keys.ts';
import { TABLE_KEYS } from '../tables/table-keys.ts';
import { TRUST_KEYS } from '../trust/keys.ts';
import type { Facts } from './facts.ts';
import type { KeyBinding } from './key-binding.ts';
import type { Screen } from './route.ts';
import {
  BACK,
  BUILD,
  COPY,
  DOCTOR,
  FILTER,
  HELP,
  MESSAGES,
  MOUSE,
  MOVES,
  MOVES_WITHOUT_TAB,
  PALETTE,
  QUIT,
  REFRESH,
  SET_UP,
  SORT,
  TASKS,
  UNDO,
} from './shared-keys.ts';
import { noTarget, noTask, notFound } from './why-not.ts';

/** The keys of every screen, in the order in which they are shown. Where a key is twice, the first that applies wins. */
export const KEY_TABLE: Record<Screen, KeyBinding[]> = {
  targets: [
    { keys: ['enter', 'right'], action: 'open', label: 'open', help: "the target's snapshots", whyNot: noTarget },
    SET_UP,
    BUILD,
    LOAD_LATEST,
    REFRESH,
    ...FILTER,
    SUBSET,
    PALETTE,
    SORT,
    COPY,
    DOCTOR,
    EDIT_CONFIGURATION,
    { keys: ['s'], action: 'sign-in', label: 'sign in', help: 'sign in with the identity provider, in the browser' },
    TASKS,
    MESSAGES,
    HELP,
    QUIT,
    MOUSE,
    ...MOVES,
  ],
  snapshots: [
    ...SNAPSHOT_KEYS,
    BUILD,
    SANITIZE,
    COPY,
    UNDO,
    ...FILTER,
    BACK,
    { ...REFRESH, keys: ['r'] },
    TASKS,
    MESSAGES,
    PALETTE,
    HELP,
    MOUSE,
    ...MOVES,
  ],
  run: [
    ...RUN_KEYS,
    SHOW_COVERAGE,
    { ...UNDO, when: ({ run }) => run?.receipt?.undoable === true },
    ...LOG_KEYS,
    BACK,
    {
      keys: ['up', 'k'],
      action: 'move-up',
      label: 'scroll the log',
      help: 'scroll the log up; it stops following',
      when: ({ scrolls }) => scrolls,
    },
    { keys: ['down', 'j'], action: 'move-down', help: 'scroll the log down' },
    { keys: ['pageup', 'ctrl+b'], action: 'page-up', help: 'a page up' },
    { keys: ['pagedown', 'ctrl+f'], action: 'page-down', help: 'a page down' },
    { keys: ['home', 'g'], action: 'move-first', help: 'to the beginning of the log' },
    { keys: ['end', 'G'], action: 'move-last', help: 'to the end of the log, and follow it' },
    { ...TASKS, label: 'tasks' },
    PALETTE,
    HELP,
  ],
  coverage: [EDIT_QUERY, SANITIZE_AGAIN, BACK, TASKS, HELP, ...MOVES],
  tasks: [
    {
      keys: ['enter', 'right'],
      action: 'open',
      label: 'open',
      help: 'the task with its steps and log',
      whyNot: noTask,
    },
    ...RUN_KEYS,
    BACK,
    MESSAGES,
    PALETTE,
    HELP,
    ...MOVES,
  ],
  messages: [
    {
      keys: ['enter', 'right'],
      action: 'open',
      label: 'open',
      help: 'the work that the message is about',
      whyNot: ({ message }) => (message === null || message.run === null ? 'There is nothing to open' : null),
    },
    BACK,
    TASKS,
    PALETTE,
    HELP,
    ...MOVES,
  ],
  subset: [...SUBSET_KEYS, BACK, TASKS, PALETTE, HELP, ...MOVES],
  tables: [...TABLE_KEYS, ...FILTER, BACK, PALETTE, HELP, ...MOVES],
  diff: [BACK, PALETTE, HELP, ...MOVES],
  doctor: [...DOCTOR_KEYS, { ...REFRESH, action: 'doctor' }, BACK, PALETTE, HELP, ...MOVES],
  fix: [
    {
      keys: ['enter'],
      action: 'open',
      label: 'do it',
      help: 'do what is shown, then look at everything again',
      stays: true,
      whyNot: notFound,
    },
    { ...BACK, label: 'leave it', help: 'back; nothing is changed' },
    HELP,
    ...MOVES,
  ],
  setup: [
    {
      keys: ['enter'],
      action: 'open',
      label: 'go on',
      help: 'take the answer',
      when: ({ setup }) => setup === 'question',
      stays: true,
    },
    {
      keys: ['enter'],
      action: 'open',
      label: 'write the file',
      help: 'write the file that is shown',
      when: ({ setup }) => setup === 'file',
      stays: true,
    },
    { ...BACK, keys: ['esc'], help: 'back by one question; nothing is written before the file was shown' },
    { keys: ['up'], action: 'move-up', help: 'another choice; towards the beginning of the file that is shown' },
    { keys: ['down'], action: 'move-down', help: 'another choice; towards the end of the file that is shown' },
    { keys: ['pageup'], action: 'page-up', help: 'a page up in the file that is shown' },
    { keys: ['pagedown'], action: 'page-down', help: 'a page down in the file that is shown' },
  ],
  editor: [...TYPING_KEYS, ...[...EDITOR_KEYS, BACK, TASKS, PALETTE, HELP, ...MOVES_WITHOUT_TAB].map(unlessTyping)],
  'editor-diff': [
    { keys: ['enter'], action: 'open', label: 'save', help: 'write the file', stays: true },
    { ...BACK, label: 'go on editing', help: 'back to the editor; nothing is written' },
    HELP,
    ...MOVES,
  ],
  'editor-problems': [
    { keys: ['enter', 'right'], action: 'open', label: 'go there', help: 'to the field or section of the problem' },
    BACK,
    HELP,
    ...MOVES,
  ],
  choice: [{ ...BACK, label: 'choose nothing', help: 'back; nothing is changed' }, HELP],
  export: [
    { keys: ['enter'], action: 'open', label: 'export', help: 'write the file', stays: true },
    { ...BACK, keys: ['esc'], label: 'write nothing', help: 'write nothing' },
  ],
  'sign-in': [
    {
      keys: ['c'],
      action: 'copy-sign-in-url',
      label: 'copy the URL',
      help: 'copy the URL into the clipboard',
      when: ({ signIn }) => signIn === 'waiting',
    },
    {
      keys: ['d'],
      action: 'sign-in-by-code',
      label: 'by a code',
      help: 'sign in by a code, in a browser of any machine',
      when: ({ signIn }) => signIn !== 'done',
    },
    {
      keys: ['r'],
      action: 'sign-in',
      label: 'again',
      help: 'sign in again',
      when: ({ signIn }) => signIn === 'failed',
    },
    BACK,
    HELP,
  ],
  note: [
    { keys: ['enter'], action: 'open', label: 'save', help: 'save the note; an empty one removes it', stays: true },
    { ...BACK, keys: ['esc'], label: 'leave it as it was', help: 'leave the note as it was' },
  ],
  palette: [
    { keys: ['enter'], action: 'open', label: 'do it', help: 'do what is selected', stays: true },
    { ...BACK, keys: ['esc'] },
    ...MOVES.slice(0, 2).map(({ keys: [arrow], ...binding }): KeyBinding => ({ ...binding, keys: [arrow] })),
  ],
  confirm: [
    {
      keys: ['esc', 'left'],
      action: 'back',
      label: 'leave everything as it is',
      help: 'leave everything as it is',
      stays: true,
    },
    HELP,
  ],
  trust: [...TRUST_KEYS, HELP, ...MOVES],
  cancel: [{ ...BACK, label: 'let it go on', help: 'let it go on' }, HELP],
  quit: [{ ...BACK, label: 'stay', help: 'stay here' }, HELP],
  help: [
    { ...BACK, keys: ['esc', '?', 'q', 'left'] },
    {
      keys: ['pagedown', 'space', 'ctrl+f'],
      action: 'page-down',
      label: 'scroll',
      help: 'a page down',
      when: ({ scrolls }) => scrolls,
    },
    ...MOVES_WITHOUT_TAB,
  ],
};

/** While text is typed the keys of a screen are letters. */
function unlessTyping(binding: KeyBinding): KeyBinding {
  return { ...binding, when: (facts) => !facts.typing && (binding.when?.(facts) ?? true) };
}

/** Actions that need nothing of a screen: the palette has them everywhere. */
export const EVERYWHERE_ACTIONS: KeyBinding[] = [
  REFRESH,
  { ...TASKS, when: () => true },
  { ...MESSAGES, when: () => true },
  DOCTOR,
  EDIT_CONFIGURATION,
  MOUSE,
];

/** Keys that mean the same on every screen, typed text included; they are shown in the help only. */
export const EVERYWHERE: { keys: string; help: string }[] = [
  { keys: 'ctrl+c', help: 'cancel the work that is going on; twice within two seconds: leave' },
  { keys: 'ctrl+z', help: 'suspend, until `fg`' },
];

/** The bindings that are there at the moment. */
export function bindingsAt(screen: Screen, facts: Facts): KeyBinding[] {
  return KEY_TABLE[screen].filter(({ when }) => when?.(facts) ?? true);
}

/** The binding of a key at the moment, if it has one. */
export function bindingFor(screen: Screen, key: string, facts: Facts): KeyBinding | undefined {
  return bindingsAt(screen, facts).find(({ keys }) => keys.includes(key));
}

/** A key as people write it. */
export function keyName(key: string): string {
  const names: Record<string, string> = {
    up: '↑',
    down: '↓',
    left: '←',
    right: '→',
    enter: 'Enter',
    esc: 'Esc',
    pageup: 'PgUp',
    pagedown: 'PgDn',
    home: 'Home',
    end: 'End',
    delete: 'Del',
    space: 'Space',
    tab: 'Tab',
    'shift+tab': 'Shift-Tab',
  };
  return names[key] ?? key.replace(/^ctrl\+(.)$/, (_, letter: string) => `Ctrl-${letter.toUpperCase()}`);
}
