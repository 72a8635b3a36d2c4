import { inDatabase, quotePath, quoteText, tablesIn } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { onRefusal } from '../connection/session-errors.ts';
import { ENGINES_WITH_ROWS } from './table-traits.ts';

export interface ListedTable {
  name: string;
  type: 'BASE TABLE' | 'SYSTEM VERSIONED' | 'SEQUENCE' | 'VIEW' | (string & {});
  /** `null` of a view, and of a table that the server cannot open. */
  engine: string | null;
}

/** Tables, views and sequences by name, without the tool's mark. Reads definitions only and contacts no other server. */
export async function readTableList(session: MysqlSession, database: string): Promise<ListedTable[]> {
  return session.query<ListedTable>(`
    SELECT TABLE_NAME AS name, TABLE_TYPE AS type, ENGINE AS engine FROM information_schema.TABLES
    WHERE ${tablesIn(database)} ORDER BY TABLE_NAME`);
}

export function isVersioned({ type }: ListedTable): boolean {
  return type === 'SYSTEM VERSIONED';
}

export async function tablesOf(session: MysqlSession, database: string): Promise<string[]> {
  return (await readTableList(session, database)).filter(({ type }) => type !== 'VIEW').map(({ name }) => name);
}

/** A view is none: reading it would run code with the rights of this user. */
export async function tableExists(session: MysqlSession, database: string, table: string): Promise<boolean> {
  const rows = await session.query(
    `SELECT 1 FROM information_schema.TABLES WHERE ${inDatabase('TABLE_SCHEMA', database)} AND ${inDatabase('TABLE_NAME', table)} AND TABLE_TYPE <> 'VIEW'`,
  );
  return rows.length > 0;
}

const IS_TABLE = "TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED')";

/** A table with rows of its own. */
export interface CatalogTable {
  name: string;
  engine: string;
  isVersioned: boolean;
  /** Estimates of the server: exact sizes are not known before a dump. */
  bytes: number;
  rows: number;
  key: string[];
  columns: CatalogColumn[];
}

export interface CatalogColumn {
  name: string;
  type: string;
  generated: boolean;
  /** A dump reads it as NULL in rows of this condition. */
  nulledWhere?: string;
}

/** Columns that accept text but not the same bytes. */
export const TEXT_TYPES = new Set(['json', 'uuid', 'inet4', 'inet6']);

export async function readTables(session: MysqlSession, database: string): Promise<CatalogTable[]> {
  const within = await ownTablesIn(session, database);
  const tables = await session.query<ListedTable & { bytes: number | null; rows_: number | null }>(`
    SELECT TABLE_NAME AS name, TABLE_TYPE AS type, ENGINE AS engine, DATA_LENGTH AS bytes, TABLE_ROWS AS rows_
    FROM information_schema.TABLES WHERE ${within} AND ${IS_TABLE}`);
  const columns = await session.query<{ table_: string; name: string; type: string; extra: string }>(`
    SELECT TABLE_NAME AS table_, COLUMN_NAME AS name, DATA_TYPE AS type, EXTRA AS extra
    FROM information_schema.COLUMNS WHERE ${within} ORDER BY TABLE_NAME, ORDINAL_POSITION`);
  const keys = await session.query<{ table_: string; name: string }>(`
    SELECT TABLE_NAME AS table_, COLUMN_NAME AS name FROM information_schema.STATISTICS
    WHERE ${within} AND INDEX_NAME = 'PRIMARY' ORDER BY TABLE_NAME, SEQ_IN_INDEX`);
  const columnsOf = Map.groupBy(columns, (column) => column.table_);
  const keysOf = Map.groupBy(keys, (key) => key.table_);
  return tables
    .map((table) => ({
      name: table.name,
      engine: table.engine ?? '',
      isVersioned: isVersioned(table),
      bytes: Number(table.bytes ?? 0),
      rows: Number(table.rows_ ?? 0),
      key: (keysOf.get(table.name) ?? []).map((key) => key.name),
      columns: (columnsOf.get(table.name) ?? []).map((column) => ({
        name: column.name,
        type: column.type.toLowerCase(),
        generated: isGenerated(column.extra),
      })),
    }))
    .sort(byName);
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1;
}

/** `ER_WRONG_MRG_TABLE`: the listed tables are missing or differ. */
export const WRONG_MERGE = 1168;

interface WithoutRows extends Pick<CatalogTable, 'name' | 'engine'> {
  schema: string;
}

/** Finds the tables of a condition whose rows are not their own, MERGE tables that the server cannot open included. */
export async function readTablesWithoutRows(session: MysqlSession, within: string): Promise<WithoutRows[]> {
  const known = [...ENGINES_WITH_ROWS].map(quoteText).join(', ');
  const rows = await session.query<Omit<WithoutRows, 'engine'> & Pick<ListedTable, 'engine'>>(`
    SELECT TABLE_SCHEMA AS \`schema\`, TABLE_NAME AS name, ENGINE AS engine FROM information_schema.TABLES
    WHERE (${within}) AND ${IS_TABLE} AND (ENGINE IS NULL OR ENGINE NOT IN (${known}, 'PERFORMANCE_SCHEMA'))`);
  const found: WithoutRows[] = [];
  for (const { schema, name, engine } of rows) {
    if (engine !== null) found.push({ schema, name, engine });
    else if (await isBrokenMerge(session, schema, name)) found.push({ schema, name, engine: 'MRG_MyISAM' });
  }
  return found.sort(byName);
}

async function isBrokenMerge(session: MysqlSession, database: string, name: string): Promise<boolean> {
  const shown = session.query(`SHOW CREATE TABLE ${quotePath(database, name)}`);
  return shown.then(
    () => false,
    onRefusal(({ errno }) => errno === WRONG_MERGE),
  );
}

/**
 * Returns the condition of `tablesIn`, limited to tables with rows of their own, and views. A condition on names is
 * applied before a table is opened: reading the size of a FEDERATED table contacts its server, and its error fails the
 * whole query.
 */
export function ownTablesIn(session: MysqlSession, database: string): Promise<string> {
  return withOwnRows(session, tablesIn(database));
}

/** Bytes of rows and indexes by database, of the tables of a condition that have rows of their own. */
export async function readSizes(session: MysqlSession, within: string): Promise<Map<string, number>> {
  const rows = await session.query<{ name: string; bytes: number | string | null }>(`
    SELECT TABLE_SCHEMA AS name, SUM(DATA_LENGTH + INDEX_LENGTH) AS bytes FROM information_schema.TABLES
    WHERE ${await withOwnRows(session, within)} GROUP BY CAST(TABLE_SCHEMA AS BINARY)`);
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes ?? 0)]));
}

export async function readSize(session: MysqlSession, database: string): Promise<number> {
  const sizes = await readSizes(session, inDatabase('TABLE_SCHEMA', database));
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
}

export async function readTableSizes(session: MysqlSession, database: string): Promise<Map<string, number>> {
  const rows = await session.query<{ name: string; bytes: number | null }>(`
    SELECT TABLE_NAME AS name, DATA_LENGTH + INDEX_LENGTH AS bytes FROM information_schema.TABLES
    WHERE ${await withOwnRows(session, tablesIn(database))} AND ${IS_TABLE} ORDER BY TABLE_NAME`);
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes ?? 0)]));
}

async function withOwnRows(session: MysqlSession, within: string): Promise<string> {
  return `(${within})${excluding(await readTablesWithoutRows(session, within), 'TABLE_SCHEMA')}`;
}

/** A condition for queries of foreign keys, which open every table, limited in the same way. */
export async function keysWithOwnRows(session: MysqlSession, within: string): Promise<string> {
  return `(${within})${excluding(await readTablesWithoutRows(session, 'TRUE'), 'CONSTRAINT_SCHEMA')}`;
}

function excluding(others: WithoutRows[], column: 'TABLE_SCHEMA' | 'CONSTRAINT_SCHEMA'): string {
  return [...Map.groupBy(others, ({ schema }) => schema)]
    .map(([schema, tables]) => {
      const names = tables.map(({ name }) => quoteBytes(name)).join(', ');
      return ` AND NOT (CAST(${column} AS BINARY) = ${quoteBytes(schema)} AND CAST(TABLE_NAME AS BINARY) IN (${names}))`;
    })
    .join('');
}

function quoteBytes(name: string): string {
  return `CAST(${quoteText(name)} AS BINARY)`;
}

/** Reports whether the server computes a column, by its EXTRA in information_schema.COLUMNS. */
export function isGenerated(extra: string): boolean {
  return /\b(STORED|VIRTUAL|PERSISTENT|INVISIBLE) GENERATED\b/i.test(extra);
}

/** Returns the columns that rows are dumped and loaded with, in their order in the table. */
export function nonGeneratedColumns<Column extends { generated: boolean }>({ columns }: { columns: Column[] }) {
  return columns.filter(({ generated }) => !generated);
}
