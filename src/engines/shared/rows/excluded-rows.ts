import { chooseTables } from '../../../repository/select-tables.ts';
import type { WarningEvent } from '../../../results/events.ts';
import type { NullifiedKey } from '../../../results/excluded-rows.ts';
import { UserError } from '../../../runtime/errors.ts';
import { boundedLines, boundedList } from '../../../text/bounded-list.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { type DanglingKey, type ForeignKey, findDangling, type TableColumns } from './null-references.ts';

/** Most names in a message. */
const LISTED = 20;

/** Returns the tables that the patterns match. One that matches none is refused, since rows would be read by mistake. */
export function chooseExcluded(patterns: string[], { tables, database }: { tables: string[]; database: string }) {
  if (tables.length === 0) return [];
  const unknown = `exclude_rows matches no table of ${database}:`;
  return chooseTables(patterns, tables, { unknown, hint: 'Nothing was stored. ' });
}

interface NullifyOptions {
  excluded: Set<string>;
  nullify: boolean;
  /** Reads what NULL is not possible in, of tables with foreign keys. */
  readColumns: (tables: string[]) => Promise<Map<string, TableColumns>>;
}

/** Finds the references that must become NULL. Refuses these that cannot, and all of them without `nullify`. */
export async function referencesToNull(keys: ForeignKey[], { excluded, nullify, readColumns }: NullifyOptions) {
  if (!keys.some(({ references }) => references.some((table) => excluded.has(table)))) return [];
  const columnsOf = await readColumns([...new Set(keys.flatMap(({ tables }) => tables))]);
  const dangling = findDangling(keys, { excluded, columnsOf });
  const impossible = dangling.filter(({ nulled }) => nulled.length === 0);
  const refused = nullify ? impossible : dangling.filter((key) => key.because === null || impossible.includes(key));
  if (refused.length === 0) return dangling;
  throw new UserError('excluded_rows_referenced', 'Tables of the snapshot reference tables without rows', {
    details: boundedLines(refused.map(refusedText), LISTED),
    hint: `Nothing was stored. ${hintFor(impossible)}`,
  });
}

function hintFor(impossible: DanglingKey[]): string {
  if (impossible.length === 0)
    return 'Make these references NULL in the snapshot with --nullify (nullify: true), or add the referencing tables to exclude_rows.';
  if (impossible.some(({ obstacles }) => obstacles === null))
    return 'Exclude the whole partitioned table or none of its partitions, or add the referencing tables to exclude_rows.';
  return 'Columns that cannot be NULL need their rows: add the referencing tables to exclude_rows, or take the referenced ones out of it.';
}

function refusedText({ name, table, columns, references, because, nulled, obstacles }: DanglingKey): string {
  const key = `${table} (${columns.join(', ')}) → ${references}: foreign key ${name}`;
  const cause = because === null ? '' : `; ${because} of ${references} becomes NULL`;
  if (nulled.length > 0) return `${key}${cause}`;
  if (obstacles === null) return `${key}${cause}; other partitions keep their rows`;
  const cannot = [...obstacles].map(([column, why]) => `${column} cannot be NULL${why === '' ? '' : ` (${why})`}`);
  return `${key}${[cause, ...cannot.map((text) => `; ${text}`)].join('')}`;
}

export function nullifiedWarnings(nullified: NullifiedKey[]): WarningEvent[] {
  const keys = nullified.filter(({ rows }) => rows > 0);
  if (keys.length === 0) return [];
  const list = keys.map(
    ({ table, columns, references, rows }) =>
      `${table} (${columns.join(', ')}) → ${references}: ${formatNumberOf(rows, 'row')}`,
  );
  const message = `References to tables without rows are NULL in the snapshot: ${boundedList(list, LISTED)}`;
  return [{ event: 'warning', code: 'references_nullified', message }];
}
