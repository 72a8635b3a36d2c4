import { UserError } from '../../../runtime/errors.ts';
import { tableName } from '../../../text/table-names.ts';
import { tablesOf } from '../catalog/tables.ts';
import { LOCK_WAIT_TIMEOUT } from '../connection/error-numbers.ts';
import { quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';

interface PreparedTransaction {
  formatID: number;
  gtrid_length: number;
  bqual_length: number;
  /** By flavour. */
  data: string | Buffer;
}

const SETTINGS = 'SET lock_wait_timeout = 1, innodb_lock_wait_timeout = 1, autocommit = 0';
const SETTINGS_BACK = 'SET lock_wait_timeout = DEFAULT, innodb_lock_wait_timeout = DEFAULT, autocommit = 1';

/**
 * Refuses a destination of which a transaction that XA has prepared holds a table: it survives the end of its session, and
 * of the server, so that nothing that the program may do ends it. Waits a second at most.
 */
export async function assertNoPreparedTransaction(server: MysqlSession, destination: string): Promise<void> {
  const prepared = await findPrepared(server);
  if (prepared.length === 0 || (await hasOtherTransactions(server))) return;
  await server.execute(SETTINGS);
  try {
    for (const table of await tablesOf(server, destination)) {
      if (await isLockable(server, destination, table)) continue;
      throw new UserError(
        'sessions_stay',
        `A prepared XA transaction holds ${tableName(destination, table)}, so ${destination} cannot be replaced`,
        { details: describePrepared(prepared), hint: `The destination is unchanged. ${END_PREPARED}` },
      );
    }
  } finally {
    await server.execute(SETTINGS_BACK);
  }
}

export const END_PREPARED =
  'End the transaction by XA COMMIT or XA ROLLBACK (XA RECOVER lists those of the server), then try again.';

/** Without the right to see them, none: then the swap fails after some seconds. */
export async function findPrepared(server: MysqlSession): Promise<PreparedTransaction[]> {
  try {
    return await server.query<PreparedTransaction>('XA RECOVER');
  } catch (error) {
    if (error instanceof SqlError) return [];
    throw error;
  }
}

/** Reports whether a session has a transaction: it can be ended, and may be what holds a table. */
async function hasOtherTransactions(server: MysqlSession): Promise<boolean> {
  try {
    const rows = await server.query(
      'SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id NOT IN (0, CONNECTION_ID()) LIMIT 1',
    );
    return rows.length > 0;
  } catch (error) {
    if (error instanceof SqlError) return true;
    throw error;
  }
}

async function isLockable(server: MysqlSession, database: string, table: string): Promise<boolean> {
  try {
    await server.execute(`LOCK TABLES ${quotePath(database, table)} WRITE`);
    return true;
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    return error.errno !== LOCK_WAIT_TIMEOUT;
  } finally {
    await server.execute('UNLOCK TABLES');
  }
}

const FEW = 10;

/** Returns the identifiers as the statements take them, if they are plain text. */
export function describePrepared(prepared: PreparedTransaction[]): string[] {
  return prepared.slice(0, FEW).map(({ formatID: format, gtrid_length: length, data: bytes }) => {
    const data = typeof bytes === 'string' ? bytes : bytes.toString('latin1');
    if (!/^[ -&(-[\]-~]*$/.test(data)) return 'prepared: an identifier that is no plain text';
    const [global, branch] = [data.slice(0, Number(length)), data.slice(Number(length))];
    const rest = branch === '' && Number(format) === 1 ? '' : `, '${branch}', ${Number(format)}`;
    return `prepared: '${global}'${rest}`;
  });
}
