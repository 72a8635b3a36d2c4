import { groupsOf } from '../../../shared/change-statements.ts';
import { quoteName, quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { placeOf } from './row-places.ts';
import type { RowVersion } from './row-versions.ts';

export interface TableColumns {
  names: string[];
  /** Some others are computed. */
  computed: boolean;
  /** `null` where rows are deleted and inserted only. */
  update: UpdatableColumns | null;
}

interface UpdatableColumns {
  /** The primary key. */
  key: string[];
  /** Those of unique indexes, and of identities that the server alone may set: rows with other ones are not updated. */
  same: string[];
  set: string[];
}

/** Types of later oids may have operators of their own. */
const FIRST_OWN_OID = 16384;

/**
 * Reads how rows of the table can be written. They are updated where they have a key and no unique index depends on more than
 * columns: an update that leaves all unique values alone cannot meet those of another row, whatever the order.
 */
export async function readColumns(session: PostgresSession, oid: number): Promise<TableColumns> {
  const columns = await session.query<{
    name: string;
    computed: boolean;
    same: boolean;
    key: boolean;
    plain: boolean;
  }>(`
    SELECT a.attname AS name, a.attgenerated <> '' AS computed, a.attidentity = 'a' OR u.plain IS NOT NULL AS same,
      coalesce(u.key, false) AS key, coalesce(u.plain AND a.atttypid < ${FIRST_OWN_OID}, true) AS plain
    FROM pg_attribute a LEFT JOIN (
      SELECT k.attnum, bool_or(i.indisprimary AND i.indisvalid) AS key,
        bool_and(i.indpred IS NULL AND i.indexprs IS NULL AND NOT i.indisexclusion) AS plain
      FROM pg_index i, unnest(i.indkey) AS k (attnum)
      WHERE i.indrelid = ${quoteNumber(oid)} AND (i.indisunique OR i.indisexclusion) GROUP BY k.attnum
    ) AS u ON u.attnum = a.attnum OR u.attnum = 0
    WHERE a.attrelid = ${quoteNumber(oid)} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`);
  const namesOf = (some: typeof columns): string[] => [...new Set(some.map(({ name }) => quoteName(name)))];
  const [given, key] = [columns.filter(({ computed }) => !computed), namesOf(columns.filter((one) => one.key))];
  const same = namesOf(columns.filter((one) => one.same));
  const set = namesOf(given).filter((name) => !same.includes(name));
  const isUpdatable = key.length > 0 && set.length > 0 && columns.every(({ plain }) => plain);
  return {
    names: namesOf(given),
    computed: given.length < columns.length,
    update: isUpdatable ? { key, same, set } : null,
  };
}

/** Rows in a statement. */
export const BATCH = 1000;

export interface WrittenRow {
  row: RowVersion;
  place: number;
}

interface RowsToUpdate {
  /** As SQL. */
  path: string;
  columns: UpdatableColumns;
  rows: RowVersion[];
}

/**
 * Gives these values to rows of the same keys, and returns those that there were. That writes half of the blocks that a
 * deletion and an insertion do, and mostly no index.
 */
export async function updateRows(
  session: PostgresSession,
  { path, columns: { key, same, set }, rows }: RowsToUpdate,
): Promise<WrittenRow[]> {
  const record = (of: string): string => `ROW(${same.map((name) => `${of}.${name}`).join(', ')})`;
  const written: WrittenRow[] = [];
  for (const some of groupsOf(rows, BATCH)) {
    const lines = await linesOf(
      session,
      `WITH given AS MATERIALIZED (SELECT e.at, e.value::${path} AS r FROM ${quoteRows(some)} WITH ORDINALITY AS e (value, at))
      UPDATE ONLY ${path} AS t SET ${set.map((name) => `${name} = (g.r).${name}`).join(', ')} FROM given AS g
      WHERE ${key.map((name) => `t.${name} = (g.r).${name}`).join(' AND ')} AND record_image_eq(${record('t')}, ${record('(g.r)')})
      RETURNING g.at, t.ctid`,
    );
    for (const line of lines) {
      const [at, id = ''] = line.split('\t');
      const row = some[Number(at) - 1];
      if (row) written.push({ row, place: placeOf(id) });
    }
  }
  return written;
}

/** Returns the rows of a statement, each as a line. */
export async function linesOf(session: PostgresSession, statement: string): Promise<string[]> {
  let text = '';
  await session.lines(`COPY (${statement}) TO STDOUT`, (lines) => {
    text += lines.toString('latin1');
  });
  return text.split('\n').slice(0, -1);
}

/** Returns a function of SQL whose result is the text of each row. */
export function quoteRows(rows: RowVersion[]): string {
  return `json_array_elements_text(${quoteText(JSON.stringify(rows.map(({ row }) => row)))})`;
}
