import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { replicatesStatements } from '../catalog/introspect.ts';
import { type CatalogTable, nonGeneratedColumns, readTables } from '../catalog/tables.ts';
import { connect } from '../connection/connect.ts';
import { inSessions } from '../connection/in-sessions.ts';
import { asTable, quoteName, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { withDatabase } from '../connection/url.ts';
import { LOADING_SETTINGS } from '../restore/rows/load-tables.ts';
import type { BaseRecord } from './base/base-record.ts';
import { checksumOf } from './row-checksum.ts';

export interface CopyRowsResult {
  rows: number;
  checksum: string;
}

interface CopyRowsRequest {
  url: DatabaseUrl;
  from: string;
  /** Has the same tables, empty. */
  to: string;
  /** Names from the server's catalog, and known sums. */
  tables: Pick<BaseRecord['tables'][number], 'name' | 'checksum'>[];
  /** Called in the session of the copy; rejects when the rows are not those that were to be copied. */
  copied: (session: MysqlSession, table: CatalogTable, found: CopyRowsResult) => Promise<void>;
}

/**
 * Copies the rows of tables between databases of one server, several tables at once, the largest first. Rejects when
 * one of them is not there.
 */
export async function copyRows(context: EngineContext, { url, from, to, tables, copied }: CopyRowsRequest) {
  const done = new Map<string, CopyRowsResult>();
  if (tables.length === 0) return done;
  await using reading = await connect(context, withDatabase(url, from));
  const byStatement = await replicatesStatements(reading);
  const wanted = new Map(tables.map(({ name, checksum }) => [name, checksum]));
  const queue = (await readTables(reading, from))
    .filter(({ name }) => wanted.has(name))
    .sort((one, other) => other.bytes - one.bytes);
  const found = new Set(queue.map(({ name }) => name));
  const missing = [...wanted.keys()].filter((name) => !found.has(name));
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
    const statement = `INSERT INTO ${into} (${list.join(', ')}) SELECT ${list.join(', ')} FROM ${asTable(source)}`;
    const { rows } = await session.execute(statement);
    const copy: CopyRowsResult = {
      rows,
      checksum: await checksumOf(session, to, { ...table, checksum: wanted.get(name) ?? null }),
    };
    await copied(session, table, copy);
    done.set(name, copy);
  };
  await inSessions(context, { url: withDatabase(url, to), queue, prepare, work: copyTable });
  return done;
}
