import type { Facts } from './facts.ts';
import type { Screen } from './place.ts';

/** A key of a screen, as data: the key bar, the help and docs/screens.md are made from these. */
export interface KeyBinding {
  /** The first is the one that is shown. */
  keys: [string, ...string[]];
  action: Action;
  /** In the key bar; without one the key is in the help only. */
  label?: string;
  help: string;
  /** Whether the key is there at all. */
  when?: (facts: Facts) => boolean;
  /** Why the key cannot be used now, though it is there; `null` when it can. */
  whyNot?: (facts: Facts) => string | null;
  /** Stays in the key bar when others have no room. */
  stays?: boolean;
}

export type Action =
  | 'move-up'
  | 'move-down'
  | 'page-up'
  | 'page-down'
  | 'move-first'
  | 'move-last'
  | 'open'
  | 'back'
  | 'filter'
  | 'clear-filter'
  | 'refresh'
  | 'build'
  | 'load'
  | 'verify'
  | 'remove'
  | 'note'
  | 'undo'
  | 'cancel-run'
  | 'retry'
  | 'sign-in'
  | 'sign-in-by-code'
  | 'copy-url'
  | 'tasks'
  | 'help'
  | 'quit';

const MOVES: KeyBinding[] = [
  { keys: ['up', 'k'], action: 'move-up', help: 'up' },
  { keys: ['down', 'j'], action: 'move-down', help: 'down' },
  { keys: ['pageup', 'ctrl+b'], action: 'page-up', help: 'a page up' },
  { keys: ['pagedown', 'ctrl+f'], action: 'page-down', help: 'a page down' },
  { keys: ['home', 'g'], action: 'move-first', help: 'to the beginning' },
  { keys: ['end', 'G'], action: 'move-last', help: 'to the end' },
];

const HELP: KeyBinding = { keys: ['?'], action: 'help', label: 'help', help: 'these keys', stays: true };
const BACK: KeyBinding = {
  keys: ['esc', 'left'],
  action: 'back',
  label: 'back',
  help: 'back by one level',
  stays: true,
};
const QUIT: KeyBinding = {
  keys: ['q'],
  action: 'quit',
  label: 'quit',
  help: 'leave; asks when work is going on',
  when: ({ atRoot }) => atRoot,
  stays: true,
};
const FILTER: KeyBinding[] = [
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
const TASKS: KeyBinding = {
  keys: ['t'],
  action: 'tasks',
  label: 'tasks',
  help: 'all work of this session, running and ended',
  when: ({ tasks }) => tasks > 0,
};
const BUILD: KeyBinding = {
  keys: ['b'],
  action: 'build',
  label: 'build',
  help: 'take a snapshot of the source database',
  whyNot: (facts) =>
    notWritable(facts) ??
    noTarget(facts) ??
    (facts.target?.row.src_url ? null : `${facts.target?.row.name} has no source database (snapshot.src_url)`),
};
const REFRESH: KeyBinding = { keys: ['r'], action: 'refresh', label: 'refresh', help: 'look again' };
const UNDO: KeyBinding = {
  keys: ['u'],
  action: 'undo',
  label: 'undo load',
  help: 'put the database that the last load replaced back',
  whyNot: (facts) => notWritable(facts) ?? noTarget(facts),
};

/** The keys of every screen, in the order in which they are shown. Where a key is twice, the first that applies wins. */
export const KEY_TABLE: Record<Screen, KeyBinding[]> = {
  targets: [
    { keys: ['enter', 'right'], action: 'open', label: 'open', help: "the target's snapshots", whyNot: noTarget },
    BUILD,
    REFRESH,
    ...FILTER,
    { keys: ['s'], action: 'sign-in', label: 'sign in', help: 'sign in with the identity provider, in the browser' },
    TASKS,
    HELP,
    QUIT,
    ...MOVES,
  ],
  snapshots: [
    {
      keys: ['l', 'enter'],
      action: 'load',
      label: 'load',
      help: 'restore the snapshot into the destination; shows the plan and asks first',
      whyNot: (facts) =>
        notWritable(facts) ??
        noSnapshot(facts) ??
        (facts.target && facts.target.row.dst_url === null
          ? `${facts.target.row.name} has no destination (snapshot.dst_url)`
          : null),
    },
    BUILD,
    {
      keys: ['v'],
      action: 'verify',
      label: 'verify',
      help: 're-read every byte of the snapshot against its checksums',
      whyNot: (facts) => noSnapshot(facts) ?? isBusy(facts),
    },
    {
      keys: ['n'],
      action: 'note',
      label: 'note',
      help: 'write a note on the snapshot',
      whyNot: (facts) => (facts.readOnly ? READ_ONLY : noSnapshot(facts)),
    },
    {
      keys: ['d', 'delete'],
      action: 'remove',
      label: 'remove',
      help: 'remove the snapshot; asks first',
      whyNot: (facts) => notWritable(facts) ?? noSnapshot(facts),
    },
    UNDO,
    ...FILTER,
    BACK,
    { ...REFRESH, keys: ['r'] },
    TASKS,
    HELP,
    ...MOVES,
  ],
  run: [
    {
      keys: ['c'],
      action: 'cancel-run',
      label: 'cancel',
      help: 'stop the work; asks first',
      when: ({ run }) => run?.state.status === 'running',
      whyNot: ({ run }) => (run?.cancelling ? 'It is being cancelled already' : null),
    },
    {
      keys: ['r'],
      action: 'retry',
      label: 'retry',
      help: 'do the same again',
      when: ({ run }) => run?.state.status === 'failed' || run?.state.status === 'cancelled',
      whyNot: ({ run, busy }) => (run && busy ? `${busy.title} is going on` : null),
    },
    { ...UNDO, when: ({ run }) => run?.receipt?.undoable === true },
    BACK,
    { keys: ['up', 'k'], action: 'move-up', label: 'scroll the log', help: 'scroll the log up; it stops following' },
    { keys: ['down', 'j'], action: 'move-down', help: 'scroll the log down' },
    { keys: ['pageup', 'ctrl+b'], action: 'page-up', help: 'a page up' },
    { keys: ['pagedown', 'ctrl+f'], action: 'page-down', help: 'a page down' },
    { keys: ['home', 'g'], action: 'move-first', help: 'to the beginning of the log' },
    { keys: ['end', 'G'], action: 'move-last', help: 'to the end of the log, and follow it' },
    { ...TASKS, label: 'tasks' },
    HELP,
  ],
  tasks: [
    { keys: ['enter', 'right'], action: 'open', label: 'open', help: 'the task with its steps and log' },
    BACK,
    HELP,
    ...MOVES,
  ],
  'sign-in': [
    {
      keys: ['c'],
      action: 'copy-url',
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
  cancel: [{ ...BACK, label: 'let it go on', help: 'let it go on' }, HELP],
  quit: [{ ...BACK, label: 'stay', help: 'stay here' }, HELP],
  help: [{ ...BACK, keys: ['esc', '?', 'q', 'left'] }, ...MOVES],
};

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
  };
  return names[key] ?? key.replace(/^ctrl\+(.)$/, (_, letter: string) => `Ctrl-${letter.toUpperCase()}`);
}

const READ_ONLY = 'Started with --read-only: nothing is changed';

function notWritable(facts: Facts): string | null {
  return facts.readOnly ? READ_ONLY : isBusy(facts);
}

function isBusy({ busy }: Facts): string | null {
  return busy ? `${busy.title} is going on` : null;
}

function noTarget({ target }: Facts): string | null {
  return target ? null : 'No target is selected';
}

function noSnapshot({ snapshot }: Facts): string | null {
  return snapshot ? null : 'There is no snapshot yet: b builds one';
}
