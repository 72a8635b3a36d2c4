import { UserError } from '../../../runtime/errors.ts';
import { LOCK_WAIT_TIMEOUT } from '../connection/error-numbers.ts';
import { inDatabase } from '../connection/quote.ts';
import { type MysqlSession, PLAIN_GRAMMAR } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { describePrepared, END_PREPARED, findPrepared } from './prepared-transactions.ts';
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

export async function sessionsStay(
  server: MysqlSession,
  { cause, database }: { cause: SqlError; database: string },
): Promise<UserError> {
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
