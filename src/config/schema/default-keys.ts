/** The commands of the screens by id, and their keys: the shown one, then others that do the same. */
export const KEY_COMMANDS = {
  accept: { keys: ['a'], does: 'accept what is missing, and run again' },
  activity: { keys: ['t'], does: 'open the activity: runs, messages and history' },
  all_rows: { keys: ['+'], does: 'subset: copy all rows of a table' },
  back: { keys: ['U'], does: 'list the points to return to' },
  branches: { keys: ['B'], does: 'open the branches of a target' },
  build: { keys: ['b'], does: 'build a snapshot' },
  cancel: { keys: ['c'], does: 'cancel a run' },
  changes: { keys: ['D'], does: 'show the changes since a load or a save' },
  changed_columns: { keys: ['a'], does: 'show changed columns only, or all' },
  check: { keys: ['Y'], does: 'check the configuration; list its problems' },
  classify: { keys: ['J'], does: 'classify the open columns of the ledger' },
  classify_changed: { keys: ['c'], does: 'ledger: the query changes the column' },
  classify_empty: { keys: ['e'], does: 'ledger: the column is empty' },
  classify_excluded: { keys: ['x'], does: 'ledger: the table has no rows' },
  client: { keys: ['!'], does: 'open psql or mysql on a database' },
  compare: { keys: ['C'], does: 'compare snapshots' },
  copy: { keys: ['y'], does: 'copy a URL' },
  diagram: { keys: ['O'], does: 'subset: draw a table with its neighbours' },
  edit: { keys: ['e'], does: 'edit the configuration, a note, or a query' },
  exclude: { keys: ['-'], does: 'subset: exclude a table; load without steps' },
  export: { keys: ['X'], does: 'export a snapshot to a file' },
  filter: { keys: ['/'], does: 'filter a list; search a log' },
  fix: { keys: ['f'], does: 'fix a problem' },
  full_load: { keys: ['F'], does: 'load all tables instead of the differences' },
  help: { keys: ['?'], does: 'show the keys of the screen' },
  less: { keys: ['<'], does: 'subset: a smaller share of the rows' },
  load: { keys: ['l'], does: 'load a snapshot into the destination' },
  log: { keys: ['L'], does: 'show the log of a run' },
  mark: { keys: ['m'], does: 'mark a snapshot or a table' },
  more: { keys: ['>'], does: 'subset: a larger share of the rows' },
  mouse: { keys: ['M'], does: 'turn the mouse on or off' },
  new: { keys: ['n'], does: 'add a branch, a server or a configuration entry' },
  other_device: { keys: ['o'], does: 'sign in with a code, on another device' },
  palette: { keys: [':'], does: 'search commands, targets, snapshots, settings and themes' },
  pin: { keys: ['*'], does: 'pin a snapshot, so that no prune removes it' },
  prune: { keys: ['K'], does: 'prune the snapshots of a target' },
  pull: { keys: ['p'], does: 'pull a snapshot' },
  push: { keys: ['P'], does: 'push a snapshot' },
  query: { keys: ['Q'], does: 'show the query of a sanitized snapshot' },
  quit: { keys: ['q'], does: 'quit' },
  refresh: { keys: ['r'], does: 'refresh; retry' },
  remove: { keys: ['d'], does: 'remove a snapshot, a branch or a configuration entry; stop a server' },
  rename: { keys: ['N'], does: 'rename an entry of the configuration' },
  repeat: { keys: ['.'], does: 'repeat a build, a load or a reset' },
  reset: { keys: ['R'], does: 'reset a destination or a branch' },
  reveal: { keys: ['z'], does: 'show masked values, or mask them again' },
  sanitize: { keys: ['s'], does: 'sanitize a snapshot' },
  save: { keys: ['s'], does: 'save the destination' },
  servers: { keys: ['&'], does: 'open the servers of a target' },
  set_up: { keys: ['i'], does: 'create a first configuration' },
  sign_in: { keys: ['I'], does: 'sign in' },
  sort: { keys: ['S'], does: 'sort the targets' },
  subset: { keys: ['x'], does: 'plan a subset' },
  switch: { keys: ['W'], does: 'switch the destination to a branch' },
  tags: { keys: ['#'], does: 'write the tags of a snapshot' },
  trust: { keys: ['T'], does: 'trust the configuration of a folder' },
  try: { keys: ['V'], does: 'try a suggested query, a restore of a snapshot, or a migration' },
  undo: { keys: ['u'], does: 'undo a load, or a change of the configuration' },
  verify: { keys: ['v'], does: 'verify a snapshot' },
  write: { keys: ['w', 'ctrl+s'], does: 'write a file: the configuration, a log' },
} as const satisfies Record<string, Command>;

interface Command {
  keys: readonly [string, ...string[]];
  does: string;
}

export type CommandId = keyof typeof KEY_COMMANDS;

/** Keys by command id, as the configuration has them. */
export type ConfiguredKeys = { [Id in CommandId]?: string | undefined };

/** Keys that cannot be a command: those that move in lists and texts, and codes of Enter, Tab, Esc and Backspace. */
const RESERVED = new Set([...'jkgG123456789', ...[...'bcfhijmz['].map((letter) => `ctrl+${letter}`)]);

/** One printable character, or `ctrl+` and a letter. */
export function isCommandKey(key: string): boolean {
  return /^(?:[\x21-\x7e]|[\p{L}\p{S}\p{P}]|ctrl\+[a-z])$/u.test(key) && !RESERVED.has(key);
}

/** The keys of every command, the configured ones in place of the others. */
export function keysOfCommand(id: CommandId, configured: ConfiguredKeys): readonly string[] {
  const key = configured[id];
  return key === undefined ? KEY_COMMANDS[id].keys : [key];
}

/** One key means one thing on every screen, apart from these pairs, of which no screen has both. */
const APART: readonly (readonly [CommandId, CommandId])[] = [
  ['sanitize', 'save'],
  ['accept', 'changed_columns'],
  ['cancel', 'classify_changed'],
  ['edit', 'classify_empty'],
  ['subset', 'classify_excluded'],
];

export function mayShareKey(one: CommandId, other: CommandId): boolean {
  return APART.some((pair) => pair.includes(one) && pair.includes(other));
}

export const COMMAND_IDS = Object.keys(KEY_COMMANDS) as CommandId[];
