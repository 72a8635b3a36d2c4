import { redact } from '../../../process/redact.ts';
import type { Report } from '../../../runtime/events.ts';
import { type AuxiliaryNames, auxiliaryNamesWithin, isShadowName } from '../../shared/auxiliary-names.ts';
import { destinationBusy, lockLost } from '../../shared/destination-lock.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { ConnectionLost, SqlError } from '../connection/session-errors.ts';
import { profile } from '../profile.ts';
import { type Mark, type MarkedDatabase, readMarked, readMarkedRoles } from '../swap/mark.ts';

export function auxiliaryNames(destination: string): AuxiliaryNames {
  return auxiliaryNamesWithin(profile.nameLimit, destination);
}

/** The server notices late that a killed session has ended. */
const LOCK_TIMEOUT = '3s';
/** Others may be dropping the leftovers of a killed run. */
export const SHARED_LOCK_TIMEOUT = '15s';
const LOCK_NOT_AVAILABLE = '55P03';

/** One load at a time: the lock ends with the session, also of a killed run. */
export async function lockDestination(server: PostgresSession, destination: string, { timeout = LOCK_TIMEOUT } = {}) {
  await waitForLock(server, { destination, timeout, by: 'pg_advisory_lock' });
}

interface LockRequest {
  destination: string;
  timeout: string;
  by: 'pg_advisory_lock' | 'pg_advisory_lock_shared';
}

async function waitForLock(server: PostgresSession, { destination, timeout, by }: LockRequest): Promise<void> {
  try {
    await server.transaction([
      `SET LOCAL lock_timeout = ${quoteText(timeout)}`,
      `SELECT ${by}(${lockKey(destination)})`,
    ]);
  } catch (error) {
    if (!(error instanceof SqlError && error.sqlstate === LOCK_NOT_AVAILABLE)) throw error;
    throw destinationBusy(destination);
  }
}

/**
 * A lock that keeps loads of the destination away and admits others of its kind, for work beside the destination.
 * Drops shadow databases of killed loads where nobody else works beside it.
 */
export async function lockShared(server: PostgresSession, destination: string, report: Report): Promise<void> {
  const key = lockKey(destination);
  const [row] = await server.query<{ alone: boolean }>(`SELECT pg_try_advisory_lock(${key}) AS alone`);
  if (row?.alone) await sweepLeftovers(server, destination, report);
  await lockWithoutSweep(server, destination);
  if (row?.alone) await server.execute(`SELECT pg_advisory_unlock(${key})`);
}

/** Takes the lock of `lockShared`, and drops nothing. */
export async function lockWithoutSweep(server: PostgresSession, destination: string): Promise<void> {
  await waitForLock(server, { destination, timeout: SHARED_LOCK_TIMEOUT, by: 'pg_advisory_lock_shared' });
}

/**
 * Does the work under the lock of a base copy, which keeps those who read in it from those who copy it: a copy needs it
 * without sessions.
 */
export async function lockingBase<Result>(
  server: PostgresSession,
  { base: destination, timeout, by }: { base: string; timeout: string; by: LockRequest['by'] },
  work: () => Promise<Result>,
): Promise<Result> {
  await waitForLock(server, { destination, timeout, by });
  try {
    return await work();
  } finally {
    const end = by === 'pg_advisory_lock' ? 'pg_advisory_unlock' : 'pg_advisory_unlock_shared';
    await server.execute(`SELECT ${end}(${lockKey(destination)})`).catch(() => {});
  }
}

/** Reads while nobody opens the base copy for reading, which changes mark, sessions and access one after the other. */
export async function whileClosed<Result>(server: PostgresSession, destination: string, read: () => Promise<Result>) {
  await server.execute('BEGIN');
  try {
    await server.execute(`SET LOCAL lock_timeout = ${quoteText(SHARED_LOCK_TIMEOUT)}`);
    await server.execute(`SELECT pg_advisory_xact_lock_shared(${lockKey(destination)})`);
    return await read();
  } catch (error) {
    if (!(error instanceof SqlError && error.sqlstate === LOCK_NOT_AVAILABLE)) throw error;
    throw destinationBusy(destination);
  } finally {
    await server.execute('ROLLBACK').catch(() => {});
  }
}

/** For a session that goes on. */
export async function unlockAll(server: PostgresSession): Promise<void> {
  await server.execute('SELECT pg_advisory_unlock_all()');
}

/** Does the work under the destination's lock, or not at all where another session has that. */
export async function tryLock(server: PostgresSession, destination: string, work: () => Promise<unknown>) {
  const key = lockKey(destination);
  const [row] = await server.query<{ alone: boolean }>(`SELECT pg_try_advisory_lock(${key}) AS alone`);
  if (!row?.alone) return;
  try {
    await work();
  } finally {
    await server.execute(`SELECT pg_advisory_unlock(${key})`);
  }
}

/** Rejects when a pooler has switched the session's connection. */
export async function verifyLock(server: PostgresSession, destination: string): Promise<void> {
  const held = await server
    .query(
      `SELECT FROM pg_locks l, (SELECT ${lockKey(destination)} AS key) k
      WHERE l.locktype = 'advisory' AND l.pid = pg_backend_pid() AND l.granted AND l.objsubid = 1
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.classid::int8 = (k.key >> 32) & 4294967295 AND l.objid::int8 = k.key & 4294967295`,
    )
    .catch((error) => {
      if (error instanceof ConnectionLost) return [];
      throw error;
    });
  if (held.length > 0) return;
  throw lockLost(destination, { swapped: 'databases', between: 'pooler' });
}

/** Returns the key of the destination's lock, computed from the bytes of the name, as database names compare. */
function lockKey(destination: string): string {
  return `hashtextextended(${quoteText(`tool load ${destination}`)} COLLATE "C", 0)`;
}

export interface AuxiliaryDatabases {
  leftovers: MarkedDatabase[];
  undo: MarkedDatabase | null;
  base: MarkedDatabase | null;
  spare: MarkedDatabase | null;
  /** Without the mark that belongs to the name: never touched. */
  foreign: string[];
}

export async function findAuxiliaryDatabases(server: PostgresSession, destination: string) {
  const { prefix, undo, base, spare } = auxiliaryNames(destination);
  const lasting = [undo, base, spare];
  const rows = await server.query<{ name: string }>(`
    SELECT datname AS name FROM pg_database
    WHERE starts_with(datname::text, ${quoteText(prefix)}) OR datname IN (${lasting.map(quoteText).join(', ')})`);
  const names = rows.map(({ name }) => name).filter((name) => lasting.includes(name) || isShadowName(name, prefix));
  const marked = await readMarked(server, names, destination);
  const markedAs = (tool: Mark['tool'], named: string): MarkedDatabase | null =>
    marked.find(({ name, mark }) => name === named && mark.tool === tool) ?? null;
  const own = { undo: markedAs('undo', undo), base: markedAs('base', base), spare: markedAs('spare', spare) };
  const leftovers = marked.filter(({ name }) => !lasting.includes(name));
  const known = [...leftovers, ...Object.values(own)].map((each) => each?.name);
  return { ...own, leftovers, foreign: names.filter((name) => !known.includes(name)) };
}

/** Drops shadow databases of killed loads, and then their roles; needs the lock. */
export async function sweepLeftovers(server: PostgresSession, destination: string, report?: Report): Promise<string[]> {
  const { leftovers } = await findAuxiliaryDatabases(server, destination);
  const swept: string[] = [];
  for (const { name } of leftovers) if (await dropMarked(server, { name, destination, report })) swept.push(name);
  for (const name of await readMarkedRoles(server, destination)) {
    if (await tryToDrop(server, { statement: `DROP ROLE IF EXISTS ${quoteName(name)}`, name, destination, report }))
      swept.push(name);
  }
  return swept;
}

export interface MarkedDrop {
  name: string;
  destination: string;
  report?: Report | undefined;
}

/** Verifies the mark first; a failed drop is a warning. */
export async function dropMarked(server: PostgresSession, { name, destination, report }: MarkedDrop): Promise<boolean> {
  const [marked] = await readMarked(server, [name], destination);
  if (!marked) return false;
  const statement = `DROP DATABASE IF EXISTS ${quoteName(name)} WITH (FORCE)`;
  return tryToDrop(server, { statement, name, destination, report });
}

async function tryToDrop(
  server: PostgresSession,
  { statement, name, destination, report }: MarkedDrop & { statement: string },
): Promise<boolean> {
  try {
    await server.execute(statement);
    return true;
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    const message = `Could not drop ${name}: ${redact(error.message)}. The next load into ${destination} tries again`;
    report?.({ event: 'warning', code: 'leftover', message });
    return false;
  }
}

/** The oid of a database; `null` when it does not exist. */
export async function readOid(server: PostgresSession, name: string): Promise<number | null> {
  const [row] = await server.query<{ oid: number }>(
    `SELECT oid::int8 AS oid FROM pg_database WHERE datname = ${quoteText(name)}`,
  );
  return row?.oid ?? null;
}
