import { groupsOf } from '../../../shared/groups.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { quoteName, quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import type { ChangedVersions } from './changed-versions.ts';
import { idOf, pathOf, placeOf, quoteIds } from './row-places.ts';
import { isReplaced, type RowVersion, type TableVersions } from './row-versions.ts';

/** Rows in a statement. */
const BATCH = 1000;

export interface ReplacedRows {
  table: ChangedVersions;
  deleted: number;
  inserted: number;
  /** Places of rows that were written again, each with that in the base copy. */
  moved: [number, string][];
}

/**
 * Deletes rows before others are inserted, since values may be unique; verifies the number of rows. Resolves with the
 * reason for which they could not be read, if any.
 */
export async function replaceVersions(
  session: PostgresSession,
  { table, versions }: { table: ChangedVersions; versions: Promise<TableVersions | string> | string },
): Promise<ReplacedRows | string> {
  const path = pathOf(table);
  const columns = session.query<{ name: string; computed: boolean }>(`
    SELECT attname AS name, attgenerated <> '' AS computed FROM pg_attribute
    WHERE attrelid = ${quoteNumber(table.oid)} AND attnum > 0 AND NOT attisdropped ORDER BY attnum`);
  let gone = 0;
  const remove = async (places: string[]): Promise<void> => {
    for (const ids of groupsOf(places, BATCH)) {
      gone += (await returned(session, `DELETE FROM ONLY ${path} WHERE ctid = ANY (${quoteIds(ids)})`)).length;
    }
  };
  const { true: computed, false: given = [] } = Object.groupBy(await columns, (one) => `${one.computed}` as const);
  const names = given.map(({ name }) => quoteName(name));
  if (isReplaced(table)) await remove(Array.from(table.places.fresh, idOf));
  const read = await versions;
  if (typeof read === 'string') return read;
  await remove(read.deleted);
  const written: ReplacedRows['moved'] = [];
  for (const rows of groupsOf(read.inserted, BATCH)) {
    const ids = await returned(session, names.length === 0 ? emptyRows(path, rows) : filledRows(path, names, rows));
    if (computed && (await areOther(session, { path, rows, ids }))) {
      return `computed columns of ${table.name} have other values`;
    }
    written.push(...rows.flatMap(({ id }, at): ReplacedRows['moved'] => (ids[at] ? [[placeOf(ids[at]), id]] : [])));
  }
  const [fresh, missing] = [gone + read.moved.length, written.length + read.moved.length];
  const expected = table.missing ?? read.inserted.length + read.moved.length;
  if (fresh === table.fresh && missing === expected) {
    return { table, deleted: gone, inserted: written.length, moved: [...read.moved, ...written] };
  }
  throw restoreFailed(`The rows of ${table.name} could not be reset`, [
    `${table.rows + table.fresh - fresh + missing - expected} rows are there, ${table.rows} should be`,
  ]);
}

/** Reports whether rows are not as they were given: functions of computed columns may follow settings of the session. */
async function areOther(
  session: PostgresSession,
  { path, rows, ids }: { path: string; rows: RowVersion[]; ids: string[] },
): Promise<boolean> {
  const values = quoteText(JSON.stringify(rows.map(({ row }) => row)));
  const [found] = await session.query<{ other: boolean }>(`
    SELECT bool_or((SELECT (t.*)::text FROM ONLY ${path} AS t WHERE t.ctid = e.id) IS DISTINCT FROM e.value) AS other
    FROM ROWS FROM (unnest(${quoteIds(ids)}), json_array_elements_text(${values})) AS e (id, value)`);
  return found?.other !== false;
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
