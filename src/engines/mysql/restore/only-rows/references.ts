import { tableName } from '../../../../text/table-names.ts';
import { type DanglingReference, danglingRows, KEYS_LISTED } from '../../../shared/rows/only-rows.ts';
import { type ForeignKeyRow, readForeignKeys } from '../../catalog/columns.ts';
import { readNameCase } from '../../catalog/name-case.ts';
import { keysWithOwnRows } from '../../catalog/tables.ts';
import { asTable, inDatabase, quoteName, quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';

export interface Reference extends Omit<DanglingReference, 'rows' | 'keys'> {
  /** The rest of a query for its dangling rows. */
  dangling: string;
  home: string;
  own: string;
  /** The tables that it reads, as LOCK TABLES names them. */
  reads: string[];
}

interface ReferencesOf {
  database: string;
  tables: ReplacedTable[];
  schema: string;
  /** The database that has the rows of the tables. */
  rowsIn?: string;
}

type ReplacedTable = Record<'name' | 'table', string>;

/** The foreign keys of the tables, and those that refer to them, also from other databases. */
export async function readReferences(
  session: MysqlSession,
  { database, tables: given, schema, rowsIn = database }: ReferencesOf,
): Promise<Reference[]> {
  const tables = given.map(({ table }) => table);
  const among = (column: string): string => tables.map((table) => inDatabase(column, table)).join(' OR ');
  const own = `${inDatabase('TABLE_SCHEMA', database)} AND (${among('TABLE_NAME')})`;
  const other = `${inDatabase('REFERENCED_TABLE_SCHEMA', database)} AND (${among('REFERENCED_TABLE_NAME')})`;
  const keys = await readForeignKeys(session, await keysWithOwnRows(session, `(${own}) OR (${other})`));
  const existing = new Set(
    (
      await session.query<{ path: string }>(`
        SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) AS path FROM information_schema.TABLES
        WHERE ${[database, ...new Set(keys.map((key) => key.otherSchema))].map((name) => inDatabase('TABLE_SCHEMA', name)).join(' OR ')}`)
    ).map(({ path }) => path.toLowerCase()),
  );
  const { fold } = await readNameCase(session, tables);
  const replaced = new Set(tables.map(fold));
  const pathOf = (home: string, table: string): string =>
    quotePath(home.toLowerCase() === database.toLowerCase() && replaced.has(fold(table)) ? rowsIn : home, table);
  return keys.flatMap((key) => {
    // A foreign key to a table that does not exist refers to none.
    if (!existing.has(`${key.otherSchema}.${key.otherTable}`.toLowerCase())) return [];
    const named = (place: string, table: string): string =>
      tableName(place.toLowerCase() === database.toLowerCase() ? schema : place, table);
    const [from, to] = [pathOf(key.schema, key.table), pathOf(key.otherSchema, key.otherTable)];
    return [
      {
        key: key.name,
        table: named(key.schema, key.table),
        columns: key.columns,
        references: named(key.otherSchema, key.otherTable),
        dangling: danglingOf(key, from, to),
        home: key.schema,
        own: key.table,
        reads: [`${from} AS f`, `${to} AS t`],
      },
    ];
  });
}

function danglingOf({ columns, otherColumns }: ForeignKeyRow, from: string, to: string): string {
  const filled = columns.map((column) => `f.${quoteName(column)} IS NOT NULL`).join(' AND ');
  const same = columns
    .map((column, at) => `t.${quoteName(otherColumns[at] ?? '')} = f.${quoteName(column)}`)
    .join(' AND ');
  return `FROM ${asTable(from, 'f')} WHERE ${filled}
    AND NOT EXISTS (SELECT 1 FROM ${asTable(to, 't')} WHERE ${same})`;
}

/** Rejects when a row would refer to none. */
export async function verifyReferences(
  session: MysqlSession,
  { references, tables }: { references: Reference[]; tables: ReplacedTable[] },
): Promise<void> {
  const dangling = [];
  for (const reference of references) {
    const rows = await countRows(session, `SELECT COUNT(*) AS amount ${reference.dangling} LOCK IN SHARE MODE`);
    if (rows > 0) dangling.push({ ...reference, rows, keys: await readKeys(session, reference) });
  }
  if (dangling.length === 0) return;
  throw danglingRows(
    dangling,
    tables.map(({ name }) => name),
  );
}

async function readKeys(session: MysqlSession, { dangling, home, own, columns }: Reference): Promise<string[]> {
  const primary = await session.query<{ name: string }>(`
    SELECT COLUMN_NAME AS name FROM information_schema.KEY_COLUMN_USAGE
    WHERE CONSTRAINT_NAME = 'PRIMARY' AND ${inDatabase('TABLE_SCHEMA', home)} AND ${inDatabase('TABLE_NAME', own)}
    ORDER BY ORDINAL_POSITION`);
  const shown = (primary.length > 0 ? primary.map(({ name }) => name) : columns).map((name) => `f.${quoteName(name)}`);
  const rows = await session.query<{ k: string }>(
    `SELECT CONCAT_WS(', ', ${shown.join(', ')}) AS k ${dangling} LIMIT ${KEYS_LISTED} LOCK IN SHARE MODE`,
  );
  return rows.map(({ k }) => k);
}

export async function countRows(session: MysqlSession, query: string): Promise<number> {
  const [row] = await session.query<{ amount: number | string }>(query);
  return Number(row?.amount ?? 0);
}
