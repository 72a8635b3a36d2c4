import { groupsOf } from '../../../shared/change-statements.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { quoteNumber } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { ChangedVersions } from './changed-versions.ts';
import { idOf, pathOf, placeOf, quoteIds } from './row-places.ts';
import { isReplaced, type RowVersion, type TableVersions } from './row-versions.ts';
import { BATCH, linesOf, quoteRows, readColumns, updateRows, type WrittenRow } from './update-versions.ts';

export interface ReplacedRows {
  table: ChangedVersions;
  deleted: number;
  inserted: number;
  /** Places of rows that were written again, each with that in the base copy. */
  moved: [number, string][];
}

/**
 * Updates rows where a key allows it; deletes others before the rest is inserted, since values may be unique; verifies the
 * number of rows. Resolves with the reason for which they could not be read, if any.
 */
export async function replaceVersions(
  session: PostgresSession,
  { table, versions }: { table: ChangedVersions; versions: Promise<TableVersions | string> | string },
): Promise<ReplacedRows | string> {
  const path = pathOf(table);
  const columns = await readColumns(session, table.oid);
  const update = table.missing > 0 ? columns.update : null;
  const unread = isReplaced(table) ? Array.from(table.places.fresh, idOf) : [];
  let deleted = update ? 0 : await deleteRows(session, path, unread);
  const read = await versions;
  if (typeof read === 'string') return read;
  const updated = update ? await updateRows(session, { path, columns: update, rows: read.inserted }) : [];
  const outdated = [...(update ? unread : []), ...read.deleted];
  // Rows that were updated are no longer there.
  if (updated.length < outdated.length) deleted += await deleteRows(session, path, outdated);
  const placed = new Set(updated.map(({ row }) => row));
  const rows = read.inserted.filter((row) => !placed.has(row));
  const written = [...updated, ...(await insertRows(session, { path, names: columns.names, rows }))];
  if (columns.computed && (await areOther(session, path, written))) {
    return `computed columns of ${table.name} have other values`;
  }
  const places = written.map(({ row, place }): [number, string] => [place, row.id]);
  const moved = [...read.moved, ...places];
  const [fresh, missing] = [deleted + updated.length + read.moved.length, moved.length];
  if (fresh === table.fresh && missing === table.missing) {
    return { table, deleted: deleted + updated.length, inserted: written.length, moved };
  }
  throw restoreFailed(`The rows of ${table.name} could not be reset`, [
    `${table.rows + table.fresh - fresh + missing - table.missing} rows are there, ${table.rows} should be`,
  ]);
}

/** Returns the number of the rows that were there. */
async function deleteRows(session: PostgresSession, path: string, places: string[]): Promise<number> {
  let deleted = 0;
  for (const ids of groupsOf(places, BATCH)) {
    deleted += (await linesOf(session, `DELETE FROM ONLY ${path} WHERE ctid = ANY (${quoteIds(ids)}) RETURNING ctid`))
      .length;
  }
  return deleted;
}

interface RowsToInsert {
  path: string;
  names: string[];
  rows: RowVersion[];
}

/** The server writes one row after the other, in their order. */
async function insertRows(session: PostgresSession, { path, names, rows }: RowsToInsert): Promise<WrittenRow[]> {
  const written: WrittenRow[] = [];
  for (const some of groupsOf(rows, BATCH)) {
    const insert = names.length === 0 ? emptyRows(path, some) : filledRows(path, names, some);
    const ids = await linesOf(session, `${insert} RETURNING ctid`);
    written.push(...some.flatMap((row, at): WrittenRow[] => (ids[at] ? [{ row, place: placeOf(ids[at]) }] : [])));
  }
  return written;
}

/** Reports whether rows are not as they were given: functions of computed columns may follow settings of the session. */
async function areOther(session: PostgresSession, path: string, written: WrittenRow[]): Promise<boolean> {
  for (const some of groupsOf(written, BATCH)) {
    const ids = some.map(({ place }) => idOf(place));
    const [found] = await session.query<{ other: boolean }>(`
      SELECT bool_or((SELECT (t.*)::text FROM ONLY ${path} AS t WHERE t.ctid = e.id) IS DISTINCT FROM e.value) AS other
      FROM ROWS FROM (unnest(${quoteIds(ids)}), ${quoteRows(some.map(({ row }) => row))}) AS e (id, value)`);
    if (found?.other !== false) return true;
  }
  return false;
}

function emptyRows(path: string, { length }: RowVersion[]): string {
  return `INSERT INTO ${path} SELECT FROM generate_series(1, ${quoteNumber(length)})`;
}

/** OFFSET keeps the server from reading a row once for each of its columns. */
function filledRows(path: string, names: string[], rows: RowVersion[]): string {
  return `INSERT INTO ${path} (${names.join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${names.map((name) => `(s.r).${name}`).join(', ')}
    FROM (SELECT e.value::${path} AS r, e.at FROM ${quoteRows(rows)} WITH ORDINALITY AS e (value, at) OFFSET 0) s
    ORDER BY s.at`;
}
