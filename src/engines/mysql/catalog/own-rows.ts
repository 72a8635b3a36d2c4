import { quotePath, quoteText, tablesIn } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';

/** Storage engines with rows in the server's data folder. */
const WITH_ROWS = new Set(
  'INNODB MYISAM ARIA MEMORY HEAP ARCHIVE CSV ROCKSDB TOKUDB COLUMNSTORE MROONGA NDB NDBCLUSTER'.split(' '),
);
export const BLACKHOLE = 'BLACKHOLE';
/** Show the rows of MyISAM tables. */
export const MERGE_ENGINES = new Set(['MRG_MYISAM', 'MERGE']);

/**
 * Reports whether tables of the engine have rows of their own. For all other engines, unknown ones included, only the
 * definition is transferred: their rows belong to other tables, servers or files.
 */
export function hasOwnRows(engine: string): boolean {
  return WITH_ROWS.has(engine.toUpperCase());
}

export interface TableWithoutRows {
  name: string;
  engine: string;
}

/** `ER_WRONG_MRG_TABLE`: the listed tables are missing or differ. */
export const WRONG_MERGE = 1168;

/** Reads definitions only and contacts no other server. */
export async function readTablesWithoutRows(session: MysqlSession, database: string): Promise<TableWithoutRows[]> {
  const tables = await session.query<{ name: string; engine: string | null }>(`
    SELECT TABLE_NAME AS name, ENGINE AS engine FROM information_schema.TABLES
    WHERE ${tablesIn(database)} AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED')`);
  const found: TableWithoutRows[] = [];
  for (const { name, engine } of tables) {
    if (engine !== null && !hasOwnRows(engine)) found.push({ name, engine });
    if (engine === null && (await isBrokenMerge(session, database, name))) found.push({ name, engine: 'MRG_MyISAM' });
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function isBrokenMerge(session: MysqlSession, database: string, name: string): Promise<boolean> {
  try {
    await session.query(`SHOW CREATE TABLE ${quotePath(database, name)}`);
    return false;
  } catch (error) {
    if (error instanceof SqlError && error.errno === WRONG_MERGE) return true;
    if (error instanceof SqlError) return false;
    throw error;
  }
}

/**
 * Returns the condition of `tablesIn`, without these tables. A condition on names is applied before a table is opened:
 * reading the size of a FEDERATED table contacts its server, and its error fails the whole query.
 */
export function tablesExcept(database: string, names: string[]): string {
  const list = names.map(quoteBytes).join(', ');
  return `${tablesIn(database)}${list === '' ? '' : ` AND CAST(TABLE_NAME AS BINARY) NOT IN (${list})`}`;
}

/** `within`, limited to tables with rows of their own; for queries of sizes. */
export async function withOwnRows(session: MysqlSession, within: string): Promise<string> {
  return `(${within})${excluding(await withoutRows(session, within), 'TABLE_SCHEMA')}`;
}

/** The same for queries of foreign keys, which open every table. */
export async function keysWithOwnRows(session: MysqlSession, within: string): Promise<string> {
  return `(${within})${excluding(await withoutRows(session, 'TRUE'), 'CONSTRAINT_SCHEMA')}`;
}

interface InSchema {
  schema_: string;
  name: string;
}

function withoutRows(session: MysqlSession, within: string): Promise<InSchema[]> {
  const known = [...WITH_ROWS].map(quoteText).join(', ');
  return session.query<InSchema>(`
    SELECT TABLE_SCHEMA AS schema_, TABLE_NAME AS name FROM information_schema.TABLES
    WHERE (${within}) AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND ENGINE NOT IN (${known}, 'PERFORMANCE_SCHEMA')`);
}

function excluding(others: InSchema[], column: 'TABLE_SCHEMA' | 'CONSTRAINT_SCHEMA'): string {
  return [...Map.groupBy(others, ({ schema_ }) => schema_)]
    .map(([schema, tables]) => {
      const names = tables.map(({ name }) => quoteBytes(name)).join(', ');
      return ` AND NOT (CAST(${column} AS BINARY) = ${quoteBytes(schema)} AND CAST(TABLE_NAME AS BINARY) IN (${names}))`;
    })
    .join('');
}

function quoteBytes(name: string): string {
  return `CAST(${quoteText(name)} AS BINARY)`;
}
