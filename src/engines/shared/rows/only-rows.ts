import { UserError } from '../../../runtime/errors.ts';
import { boundedLines, boundedList } from '../../../text/bounded-list.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { printable } from '../../../text/printable.ts';
import type { DatabaseUrl } from '../../database-url.ts';

/** Rows of a foreign key that reference none after the rows of a table were replaced. */
export interface DanglingReference {
  /** Name of the foreign key. */
  key: string;
  table: string;
  columns: string[];
  references: string;
  rows: number;
  /** Primary keys of some of them; of rows without one, the values of the foreign key. */
  keys: string[];
}

/** The undo copy has rows of an earlier database of this name: a branch, or one that was dropped or replaced. */
export function rowsOfAnother({ database, display }: DatabaseUrl): UserError {
  return new UserError('nothing_to_undo', `The previous rows are of another database than the present ${database}`, {
    details: [display],
    hint: 'The destination is unchanged. Where the rows are of a branch, switch to it and undo there.',
  });
}

export function tablesChanged(tables: { name: string; columns: string[] }[]): UserError {
  return new UserError('definitions_differ', 'Tables were changed since their rows were replaced', {
    details: boundedLines(
      tables.map(({ name, columns }) => `${name} had the columns ${columns.join(', ')}`),
      LISTED,
    ),
    hint: 'The destination is unchanged. Undo the change of the tables first.',
  });
}

export function tablesLocked(details: string[], cause?: unknown): UserError {
  return new UserError('tables_locked', 'Other sessions keep the tables locked, so their rows were not replaced', {
    details: details.slice(0, LISTED),
    hint: 'The destination is unchanged. End these transactions, or wait for them, and run it again.',
    cause,
  });
}

/** Rows of a table cannot be chosen by their keys. */
export function notByKey(message: string, hint: string): UserError {
  return new UserError('rows_not_replaceable', message, { hint: `${hint} Nothing was changed.` });
}

/** Keys of dangling rows in a message. */
export const KEYS_LISTED = 5;

function keysText(rows: number, keys: string[]): string {
  const shown = keys.map((key) => printable(key.slice(0, MOST_CHARACTERS))).join('; ');
  return rows > keys.length ? `${shown}; …` : shown;
}

const MOST_CHARACTERS = 60;

/** Most names in a message. */
const LISTED = 20;

/** The hint names the tables whose own rows would have to be replaced as well. */
export function danglingRows(references: DanglingReference[], replaced: string[]): UserError {
  const ends = references.flatMap(({ table, references: other }) => [table, other]);
  const others = [...new Set(ends)].filter((table) => !replaced.includes(table));
  const next =
    others.length > 0
      ? `Add the rows of: ${boundedList(others, LISTED)}`
      : 'The rows of the snapshot do not fit together: verify it, or load it whole.';
  return new UserError('rows_would_dangle', 'Rows would reference rows that the snapshot does not have', {
    details: boundedLines(
      references.map(
        ({ key, table, columns, references: other, rows, keys }) =>
          `${table} (${columns.join(', ')}) → ${other}: ${formatNumberOf(rows, 'row')}, foreign key ${key}: ${keysText(rows, keys)}`,
      ),
      LISTED,
    ),
    hint: `The destination is unchanged. ${next}`,
  });
}
