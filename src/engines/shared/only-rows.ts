import { UserError } from '../../runtime/errors.ts';
import { boundedLines, boundedList } from '../../text/bounded-list.ts';
import { formatNumberOf } from '../../text/format.ts';
import type { DatabaseUrl } from '../database-url.ts';

/** Rows of a foreign key that reference none after the rows of a table were replaced. */
export interface DanglingReference {
  /** Name of the foreign key. */
  key: string;
  table: string;
  columns: string[];
  references: string;
  rows: number;
}

/** The undo copy has rows of an earlier database of this name: a branch, or one that was dropped or replaced. */
export function rowsOfAnother({ database, display }: DatabaseUrl): UserError {
  return new UserError('nothing_to_undo', `The previous rows are of another database than the present ${database}`, {
    details: [display],
    hint: 'The destination is unchanged. Where the rows are of a branch, switch to it and undo there.',
  });
}

/** Most names in a message. */
const LISTED = 20;

/** The hint names the tables whose own rows would have to be replaced as well. */
export function danglingRows(references: DanglingReference[], replaced: string[]): UserError {
  const ends = references.flatMap(({ table, references: other }) => [table, other]);
  const others = [...new Set(ends)].filter((table) => !replaced.includes(table));
  const next =
    others.length > 0
      ? `Add to --tables: ${boundedList(others, LISTED)}`
      : 'The rows of the snapshot do not fit together: verify it, or load it whole.';
  return new UserError('rows_would_dangle', 'Rows would reference rows that the snapshot does not have', {
    details: boundedLines(
      references.map(
        ({ key, table, columns, references: other, rows }) =>
          `${table} (${columns.join(', ')}) → ${other}: ${formatNumberOf(rows, 'row')}, foreign key ${key}`,
      ),
      LISTED,
    ),
    hint: `The destination is unchanged. ${next}`,
  });
}
