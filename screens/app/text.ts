import type { Size } from '../../components/page.tsx';
import { keyText } from '../../src/config/keys/keys-in-effect.ts';
import type { Cell } from '../../src/presentation/shapes/column.ts';
import type { UserError } from '../../src/runtime/errors.ts';
import { formatCount, formatNumberOf, formatPartOf } from '../../src/text/format.ts';

/** Texts in place of a list without rows: the reason, and what to do. */
export const LOADING = {
  activity: ['Reading the history…'],
  branches: ['Listing branches…'],
  changes: ['Reading the database, to compare it. Nothing is changed.'],
  configuration: ['Reading the configuration…'],
  configurationCheck: ['Checking the configuration and its requirements…'],
  difference: ['Comparing…'],
  editor: ['Reading the configuration file…'],
  fix: ['Preparing the fix…'],
  ledger: [
    'Restoring the snapshot into a throw-away database, to examine its columns…',
    'Entries that exist in sanitize.lock.yml stay.',
  ],
  plan: ['Preparing the plan…', 'Nothing is changed before you confirm.'],
  points: ['Listing the states to return to…'],
  servers: ['Listing servers…'],
  snapshots: ['Listing snapshots…'],
  subset: ['Selecting rows…'],
  rows: ['Reading the rows…'],
  suggestion: ['Restoring the snapshot into a throw-away database…', 'Nothing is stored before you save the query.'],
  tables: ['Reading the tables of the snapshot…'],
};

export const EMPTY = {
  get branches() {
    return ['No branches yet.', `Press ${keyText('new')} to create one from the base copy.`];
  },
  activity: ['Nothing was done yet.', 'Builds, loads and other runs are listed here, of earlier sessions too.'],
  commands: ['No matching command.', 'Press Esc to go back.'],
  problems: ['No problems.'],
  rows: ['The table has no rows.', 'Press Esc to go back.'],
  get servers() {
    return ['No servers yet.', `Press ${keyText('new')} to start one with the newest snapshot.`];
  },
  tables: ['The snapshot has no tables.', 'Press Esc to go back.'],
  get hub() {
    return ['The hub has the targets.', `Press ${keyText('sign_in')} to sign in.`];
  },
  get targets() {
    return [
      'The configuration has no targets yet.',
      `Press ${keyText('edit')} to add one in the editor.`,
      `Or add one below "targets:" in tool.yml, then press ${keyText('refresh')}. tool.example.yml shows every key.`,
    ];
  },
};

export function noMatchLines(noun: string): string[] {
  return ['Nothing matches the filter.', `Press Esc to show all ${noun}.`];
}

export function noDifferenceLines(compared: string): string[] {
  return ['No table differs.', `${compared} compared. Press Esc to go back.`];
}

export function noFindingsLines(tables: string): string[] {
  return ['No column of this snapshot looks like personal data.', tables];
}

/** The keys that help with a missing or invalid configuration. */
export function configurationHint({ code }: UserError): string {
  if (code === 'configuration_untrusted') return `Press ${keyText('refresh')} to be asked again whether you trust it.`;
  if (code === 'no_configuration') return `Press ${keyText('set_up')} to create one, question by question.`;
  const [check, edit, refresh] = [keyText('check'), keyText('edit'), keyText('refresh')];
  return `Press ${check} to list every problem, ${edit} to edit the configuration, ${refresh} to read it again.`;
}

export function tooLongText(characters: number, most: number): string {
  return `Too long for a field: ${formatNumberOf(characters, 'character')}, at most ${formatCount(most)}`;
}

export const COMMAND_HINT = 'Type a command…';
export const SCRIPTS_HINT = 'Every action is also a command, for scripts: tool --help';
/** Titles of the groups of keys. */
export const HELP_GROUPS = {
  commands: 'Commands',
  moves: 'Movement',
  everywhere: 'Everywhere',
  none: 'No key matches the filter. Press Esc to show all keys.',
};

export function tooSmallText(size: Size, least: Size): string {
  return `The window is too small: ${size.columns}×${size.rows}. Required: ${least.columns}×${least.rows}.`;
}

export function unknownKeyText(key: string): string {
  return `${key} has no command here. Press ${keyText('help')} for the keys`;
}

export function mouseText(on: boolean): string {
  return `The mouse is ${on ? 'on' : 'off'}`;
}

export function misnamedText(names: string[]): string {
  return `Skipped: ${formatNumberOf(names.length, 'target')} with an invalid name (${names.join(', ')})`;
}

/** In the status bar. */
export const READ_ONLY_BADGE = 'READ-ONLY';

export function versionText(version: string): string {
  return `v${version}`;
}

/** `2 of 12 snapshots` */
export function countText(shown: number, all: number, noun: string): string {
  return shown === all ? formatNumberOf(all, noun) : formatPartOf(shown, all, noun);
}

/** Before what is counted. */
export function markedText(count: number): Cell[] {
  return count === 0 ? [] : [{ text: `${formatCount(count)} marked  `, tone: 'accent' }];
}

export function sortedText(by: string): string {
  return by === 'configured' ? 'Sorted as in the configuration' : `Sorted by ${by}`;
}
