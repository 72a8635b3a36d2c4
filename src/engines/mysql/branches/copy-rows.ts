import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { runWorkers } from '../../shared/run-together.ts';
import { nonGeneratedColumns } from '../catalog/generated-columns.ts';
import { replicatesStatements } from '../catalog/introspect.ts';
import { type CatalogColumn, type CatalogTable, readTables } from '../catalog/tables.ts';
import { connect } from '../connection/connect.ts';
import { quoteName, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { withDatabase } from '../connection/url.ts';
import { LOADING_SETTINGS } from '../restore/rows/load-tables.ts';

export interface CopyRowsResult {
  rows: number;
  checksum: string;
}

interface CopyRowsRequest {
  url: DatabaseUrl;
  from: string;
  /** Has the same tables, empty. */
  to: string;
  /** Names from the server's catalog. */
  tables: string[];
  /** Called in the session of the copy; rejects when the rows are not those that were to be copied. */
  copied: (session: MysqlSession, table: CatalogTable, found: CopyRowsResult) => Promise<void>;
}

const SESSIONS = 4;

/**
 * Copies the rows of tables between databases of one server, several tables at once, the largest first. Rejects when
 * one of them is not there.
 */
export async function copyRows(
  context: EngineContext,
  { url, from, to, tables, copied }: CopyRowsRequest,
): Promise<Map<string, CopyRowsResult>> {
  const done = new Map<string, CopyRowsResult>();
  if (tables.length === 0) return done;
  await using reading = await connect(context, withDatabase(url, from));
  const byStatement = await replicatesStatements(reading);
  const wanted = new Set(tables);
  const queue = (await readTables(reading, from))
    .filter(({ name }) => wanted.has(name))
    .sort((one, other) => other.bytes - one.bytes);
  const found = new Set(queue.map(({ name }) => name));
  const missing = tables.filter((name) => !found.has(name));
  if (missing.length > 0) throw restoreFailed(`Tables of ${from} are missing`, missing);
  const prepare = async (session: MysqlSession): Promise<void> => {
    for (const setting of LOADING_SETTINGS) await session.execute(setting);
    // A lock for each row that is read would fill the server's memory; replication by statement needs them.
    if (!byStatement) await session.execute('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  };
  const copyTable = async (session: MysqlSession, table: CatalogTable): Promise<void> => {
    const { name } = table;
    const list = nonGeneratedColumns(table).map((column) => quoteName(column.name));
    const [into, source] = [quotePath(to, name), quotePath(from, name)];
    const statement = `INSERT INTO ${into} (${list.join(', ')}) SELECT ${list.join(', ')} FROM ${source}`;
    const { rows } = await session.execute(statement);
    const copy: CopyRowsResult = { rows, checksum: await checksumOf(session, to, table) };
    await copied(session, table, copy);
    done.set(name, copy);
  };
  await inSessions(context, { url: withDatabase(url, to), queue, prepare, work: copyTable });
  return done;
}

interface SessionsWork<Item> {
  url: DatabaseUrl;
  /** Is empty at the end. */
  queue: Item[];
  /** Sets up each session. */
  prepare?: (session: MysqlSession) => Promise<void>;
  work: (session: MysqlSession, item: Item) => Promise<void>;
}

/** Does the work on each item, by a few sessions at the same time. */
export async function inSessions<Item>(
  context: Pick<EngineContext, 'signal'>,
  { url, queue, prepare, work }: SessionsWork<Item>,
): Promise<void> {
  await runWorkers(context.signal, {
    count: Math.min(SESSIONS, queue.length),
    async work(signal) {
      await using session = await connect({ signal }, url);
      await prepare?.(session);
      for (let item = queue.shift(); item && !signal.aborted; item = queue.shift()) await work(session, item);
    },
  });
}

/**
 * The same for the same rows in whatever order. `CHECKSUM TABLE` does not serve: MariaDB 10.11 has answered differently
 * for an unchanged table with a generated column.
 */
export async function checksumOf(
  session: MysqlSession,
  database: string,
  table: Pick<CatalogTable, 'name' | 'columns'>,
): Promise<string> {
  const [row] = await session.query<{ sum: string }>(
    `SELECT ${checksumExpression(table)} AS sum FROM ${quotePath(database, table.name)}`,
  );
  return String(row?.sum ?? 0);
}

export function checksumExpression({ columns }: Pick<CatalogTable, 'columns'>, alias?: string): string {
  const values = nonGeneratedColumns({ columns }).map((column) => expressionOf(column, alias));
  return `CAST(COALESCE(SUM(CRC32(CONCAT_WS(',', ${values.join(', ')}))), 0) AS CHAR)`;
}

const NUMBERS = new Set(
  'tinyint smallint mediumint int bigint decimal double year date time datetime timestamp'.split(' '),
);
const TEXTS = new Set(
  'char varchar tinytext text mediumtext longtext binary varbinary tinyblob blob mediumblob longblob enum set json uuid inet4 inet6'.split(
    ' ',
  ),
);

function expressionOf({ name, type }: CatalogColumn, alias?: string): string {
  const column = alias === undefined ? quoteName(name) : quotePath(alias, name);
  if (NUMBERS.has(type)) return `COALESCE(${column}, 'n')`;
  // Else the server would round a FLOAT.
  if (type === 'float') return `COALESCE(${column} + 0e0, 'n')`;
  if (type === 'bit') return `COALESCE(${column} + 0, 'n')`;
  const bytes = TEXTS.has(type) ? column : `CAST(${column} AS BINARY)`;
  return `COALESCE(CRC32(${bytes}), 'n')`;
}
