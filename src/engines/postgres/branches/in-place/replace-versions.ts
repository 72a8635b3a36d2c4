import { groupsOf } from '../../../shared/change-statements.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { quoteName, quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { ChangedVersions } from './find-changes.ts';
import { pathOf, placeOf, quoteIds } from './row-places.ts';
import type { RowVersion, TableVersions } from './row-versions.ts';

/** Rows in a statement. */
const BATCH = 1000;

/**
 * Deletes rows before others are inserted, since values may be unique; verifies the number of rows. Returns the place of
 * each inserted row, with that in the base copy.
 */
export async function replaceVersions(
  session: PostgresSession,
  { table, deleted, inserted, moved }: TableVersions & { table: ChangedVersions },
): Promise<TableVersions['moved']> {
  const path = pathOf(table);
  let gone = 0;
  for (const ids of groupsOf(deleted, BATCH)) {
    gone += (await returned(session, `DELETE FROM ONLY ${path} WHERE ctid = ANY (${quoteIds(ids)})`)).length;
  }
  const columns = await session.query<{ name: string }>(`
    SELECT attname AS name FROM pg_attribute
    WHERE attrelid = ${quoteNumber(table.oid)} AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`);
  const names = columns.map(({ name }) => quoteName(name));
  const written: TableVersions['moved'] = [];
  for (const rows of groupsOf(inserted, BATCH)) {
    const ids = await returned(session, names.length === 0 ? emptyRows(path, rows) : filledRows(path, names, rows));
    written.push(...rows.flatMap(({ id }, at): TableVersions['moved'] => (ids[at] ? [[placeOf(ids[at]), id]] : [])));
  }
  const [fresh, missing] = [gone + moved.length, written.length + moved.length];
  if (fresh === table.fresh && missing === table.missing) return written;
  throw restoreFailed(`The rows of ${table.name} could not be reset`, [
    `${table.rows + table.fresh - fresh + missing - table.missing} rows are there, ${table.rows} should be`,
  ]);
}

/** Returns a place for each row, in their order: the server writes one after the other. */
async function returned(session: PostgresSession, statement: string): Promise<string[]> {
  let ids = '';
  await session.lines(`COPY (${statement} RETURNING ctid) TO STDOUT`, (lines) => {
    ids += lines.toString('latin1');
  });
  return ids.split('\n').slice(0, -1);
}

function emptyRows(path: string, { length }: RowVersion[]): string {
  return `INSERT INTO ${path} SELECT FROM generate_series(1, ${quoteNumber(length)})`;
}

/** OFFSET keeps the server from reading a row once for each of its columns. */
function filledRows(path: string, names: string[], rows: RowVersion[]): string {
  const values = quoteText(JSON.stringify(rows.map(({ row }) => row)));
  return `INSERT INTO ${path} (${names.join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${names.map((name) => `(s.r).${name}`).join(', ')}
    FROM (SELECT e.value::${path} AS r, e.at FROM json_array_elements_text(${values}) WITH ORDINALITY AS e (value, at) OFFSET 0) s
    ORDER BY s.at`;
}
