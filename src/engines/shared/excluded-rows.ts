import { tablesMatching } from '../../repository/select-tables.ts';
import type { WarningEvent } from '../../results/events.ts';
import type { NullifiedKey } from '../../results/excluded-rows.ts';
import { UserError } from '../../runtime/errors.ts';
import { boundedLines, boundedList } from '../../text/bounded-list.ts';

/** A foreign key of a table with rows, all of whose referenced tables are in `tables` of the choice. */
export interface ReferencingKey {
  name: string;
  table: string;
  columns: string[];
  /** Columns of the key that cannot be NULL. */
  required: string[];
  references: string;
}

/** Most names in a message. */
const LISTED = 20;

/** Returns the tables that the patterns match. One that matches none is refused, since rows would be read by mistake. */
export function chooseExcluded(
  patterns: string[],
  { tables, database }: { tables: string[]; database: string },
): string[] {
  const found = patterns.map((pattern) => ({ pattern, chosen: tablesMatching(pattern, tables) }));
  const unmatched = found.filter(({ chosen }) => chosen.length === 0).map(({ pattern }) => pattern);
  if (unmatched.length === 0) return [...new Set(found.flatMap(({ chosen }) => chosen))];
  const names = boundedList(unmatched, LISTED);
  throw new UserError('table_unknown', `exclude_rows matches no table of ${database}: ${names}`, {
    hint: 'Nothing was stored. Write tables with their schema, such as public.orders; * matches any characters.',
  });
}

/** Refuses foreign keys to tables without rows, unless all of their columns may be NULL and are to become NULL. */
export function assertNullable(keys: ReferencingKey[], { nullify }: { nullify: boolean }): void {
  const refused = keys.filter(({ required }) => !nullify || required.length > 0);
  if (refused.length === 0) return;
  const canNullify = refused.every(({ required }) => required.length === 0);
  throw new UserError('excluded_rows_referenced', 'Tables of the snapshot reference tables without rows', {
    details: boundedLines(refused.map(refusedText), LISTED),
    hint: canNullify
      ? 'Nothing was stored. Make these references NULL in the snapshot with --nullify (nullify: true), or add the referencing tables to exclude_rows.'
      : 'Nothing was stored. Columns that cannot be NULL need their rows: add the referencing tables to exclude_rows, or take the referenced ones out of it.',
  });
}

function refusedText({ name, table, columns, required, references }: ReferencingKey): string {
  const why = required.length === 0 ? '' : `; ${required.join(', ')} cannot be NULL`;
  return `${table} (${columns.join(', ')}) → ${references}: foreign key ${name}${why}`;
}

export function nullifiedWarnings(nullified: NullifiedKey[]): WarningEvent[] {
  const keys = nullified.filter(({ rows }) => rows > 0);
  if (keys.length === 0) return [];
  const list = keys.map(
    ({ table, columns, references, rows }) => `${table} (${columns.join(', ')}) → ${references}: ${rows} rows`,
  );
  const message = `References to tables without rows are NULL in the snapshot: ${boundedList(list, LISTED)}`;
  return [{ event: 'warning', code: 'references_nullified', message }];
}
