import { UserError } from '../../../runtime/errors.ts';
import { tableName } from '../../../text/table-names.ts';
import { tablesOf } from '../catalog/tables.ts';
import { LOCK_WAIT_TIMEOUT } from '../connection/error-numbers.ts';
import { inDatabase, quotePath } from '../connection/quote.ts';
import { type MysqlSession, PLAIN_GRAMMAR } from '../connection/session.ts';
import { onRefusal, SqlError } from '../connection/session-errors.ts';
import type { SwapOutcome } from './swap-packet.ts';

/** Attempts, between which sessions that hold a table are ended. */
const TRIES = 3;

interface SwapReply {
  /** Until everything that belongs to the tables was there; `null` when the packet did not come so far. */
  microseconds: number | null;
  /** Why the tables did not move. */
  refusal: Error | null;
}

export async function sendSwap(
  server: MysqlSession,
  { destination, statements }: { destination: string; statements: string[] },
): Promise<SwapReply> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await sendOnce(server, statements);
    const { moved, refused, message, microseconds } = outcome;
    if (Number(moved) === 1)
      return { microseconds: microseconds === null ? null : Number(microseconds), refusal: null };
    const error = new SqlError(message ?? 'the server refused the swap', Number(refused));
    if (error.errno !== LOCK_WAIT_TIMEOUT) return { microseconds: null, refusal: error };
    if (attempt === TRIES)
      return { microseconds: null, refusal: await sessionsStay(server, { cause: error, database: destination }) };
    await endTransactions(server, destination);
  }
}

/** On MySQL a failure ends the packet: what it was, and how far the packet came, is asked for. */
async function sendOnce(server: MysqlSession, statements: string[]): Promise<SwapOutcome> {
  try {
    const results = await server.query<SwapOutcome[]>(statements.join('\n;\n'));
    const [outcome] = results.at(-1) ?? [];
    if (!outcome) throw new Error('the packet of the swap has no answer');
    return outcome;
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    await server.execute('ROLLBACK');
    await server.execute('UNLOCK TABLES');
    await server.execute(PLAIN_GRAMMAR);
    const [state] = await server.query<{ moved: number }>('SELECT @tool_moved AS moved');
    return { moved: state?.moved ?? 0, refused: error.errno, message: error.message, microseconds: null };
  }
}

/** Bytes of a packet besides its statements. */
const PACKET_HEAD = 1024;

export async function assertPacketFits(server: MysqlSession, statements: string[]): Promise<void> {
  const [row] = await server.query<{ most: number | string }>('SELECT @@max_allowed_packet AS most');
  const bytes = Buffer.byteLength(statements.join('\n;\n')) + PACKET_HEAD;
  if (bytes <= Number(row?.most)) return;
  throw new UserError(
    'packet_too_small',
    `The statements of the swap need ${bytes} bytes, and the server takes ${row?.most} in a packet`,
    {
      hint: `The destination is unchanged. Set max_allowed_packet of the server to at least ${bytes}, then load again.`,
    },
  );
}

/** Ends sessions on the destination that are in a transaction; the others do not stand in the way. */
export async function endTransactions(server: MysqlSession, destination: string): Promise<void> {
  const sessions = await server
    .query<{ id: number }>(
      `SELECT p.ID AS id FROM information_schema.PROCESSLIST p JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.ID
       WHERE p.ID <> CONNECTION_ID() AND ${inDatabase('p.DB', destination)}`,
    )
    .catch(() => []);
  for (const { id } of sessions) await server.execute(`KILL ${Number(id)}`).catch(() => {});
}

export async function sessionsStay(server: MysqlSession, { cause, database }: { cause: SqlError; database: string }) {
  const prepared = describePrepared(await findPrepared(server));
  const next =
    prepared.length > 0
      ? END_PREPARED
      : 'Stop its clients, or load with a user that may end sessions and see them (PROCESS, CONNECTION_ADMIN).';
  return new UserError('sessions_stay', `Transactions on ${database} do not end, so it cannot be swapped`, {
    details: [cause.message, ...prepared],
    hint: `The destination is unchanged. ${next}`,
    cause,
  });
}

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

const END_PREPARED =
  'End the transaction by XA COMMIT or XA ROLLBACK (XA RECOVER lists those of the server), then try again.';

/** Without the right to see them, none: then the swap fails after some seconds. */
function findPrepared(server: MysqlSession): Promise<PreparedTransaction[]> {
  return server.query<PreparedTransaction>('XA RECOVER').catch(onRefusal(() => []));
}

/** Reports whether a session has a transaction: it can be ended, and may be what holds a table. */
function hasOtherTransactions(server: MysqlSession): Promise<boolean> {
  const query =
    'SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id NOT IN (0, CONNECTION_ID()) LIMIT 1';
  return server.query(query).then(
    ({ length }) => length > 0,
    onRefusal(() => true),
  );
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
function describePrepared(prepared: PreparedTransaction[]): string[] {
  return prepared.slice(0, FEW).map(({ formatID: format, gtrid_length: length, data: bytes }) => {
    const data = typeof bytes === 'string' ? bytes : bytes.toString('latin1');
    if (!/^[ -&(-[\]-~]*$/.test(data)) return 'prepared: an identifier that is no plain text';
    const [global, branch] = [data.slice(0, Number(length)), data.slice(Number(length))];
    const rest = branch === '' && Number(format) === 1 ? '' : `, '${branch}', ${Number(format)}`;
    return `prepared: '${global}'${rest}`;
  });
}
