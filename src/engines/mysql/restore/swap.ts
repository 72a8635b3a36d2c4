import { performance } from 'node:perf_hooks';
import { EXIT, UserError } from '../../../errors.ts';
import type { DatabaseUrl, EngineContext, Replaced } from '../../engine.ts';
import { checkCode } from '../check-definitions.ts';
import { type Definers, dropCode } from '../code.ts';
import { connect } from '../connection/connect.ts';
import { inDatabase, quoteName, type Session, SqlError, tablesIn } from '../connection/session.ts';
import { type CodeDefinitions, readCode } from '../definitions.ts';
import { readNameCase } from '../name-case.ts';
import { besideNames } from '../names.ts';
import { createDatabase, databaseExists, destinationName, verifyLock } from '../server.ts';
import { createBeside, dropBeside, undoCopyOf } from './beside.ts';
import { hasRoutines, type RoutineGrant, readRoutineGrants } from './grants.ts';
import { journalRename, settle, writeJournal } from './journal.ts';
import type { Journal } from './journal-schema.ts';
import { KEPT, type KeptRecord } from './kept.ts';
import { writeRecord } from './record.ts';

/** How many seconds the renames wait for transactions that hold a table, and how often sessions are ended for them. */
const RENAME_WAIT = 3;
const TRIES = 3;
/** `ER_LOCK_WAIT_TIMEOUT` */
const LOCK_WAIT_TIMEOUT = 1205;

export interface Rename {
  /** Database and table. */
  from: [string, string];
  to: [string, string];
}

export interface Swap {
  server: Session;
  url: DatabaseUrl;
  /** The database beside the destination that holds the complete tables. */
  fresh: string;
  /** What belongs to them. */
  code: CodeDefinitions;
  definers: Definers;
  /** Keeps what is replaced. */
  undo: boolean;
}

/**
 * Gives the fresh tables the destination's place by renames in one statement: at every moment the destination's tables
 * are the old ones or the new ones. What is replaced is kept, or dropped after.
 */
export async function swapDatabases(context: EngineContext, swap: Swap): Promise<Replaced> {
  const { server, url, fresh, code, definers, undo } = swap;
  const destination = url.database ?? '';
  const names = besideNames(await destinationName(server, destination));
  const made = !(await databaseExists(server, destination));
  const keep = undo && !made;
  context.report({ event: 'step', step: 'swap', state: 'started', label: `Give it the place of ${destination}` });
  if (keep && !(await databaseExists(server, names.undo))) {
    await createDatabase(server, { name: names.undo, collations: code });
  }
  // Before the journal's own tables are made, which stay there.
  const arriving = await tablesOf(server, fresh);
  const leaving = made ? [] : await tablesOf(server, destination);
  const kept = keep ? await tablesOf(server, names.undo) : [];
  // Not the fresh one: names of foreign keys, which move with their tables, are unique in a database.
  const retired = names.fresh();
  await createBeside(server, { name: retired, destination, collations: code });
  const renames: Rename[] = [
    ...kept.map((table, at): Rename => ({ from: [names.undo, table], to: [retired, `kept-${at}`] })),
    ...leaving.map((table, at): Rename => {
      return { from: [destination, table], to: keep ? [names.undo, table] : [retired, `old-${at}`] };
    }),
    ...(keep ? [{ from: [fresh, KEPT], to: [names.undo, KEPT] } satisfies Rename] : []),
    ...arriving.map((table): Rename => ({ from: [fresh, table], to: [destination, table] })),
  ];
  // An older undo copy goes only when the caller wants none: a destination that was missing replaces nothing.
  const obsolete = undo || made || (await undoCopyOf(server, destination)) !== 'ours' ? null : names.undo;
  const swapMs = await exchange(context, { server, url, work: fresh, renames, made, code, definers, keep, obsolete });
  await dropBeside(context, server, { name: retired, destination });
  context.report({ event: 'step', step: 'swap', state: 'done', label: `${destination} is the new one` });
  return { swapMs, undoDatabase: keep ? names.undo : null };
}

export interface Exchange extends Pick<Swap, 'server' | 'url' | 'code' | 'definers'> {
  /** The database in which the journal is written, and which is dropped in the end. */
  work: string;
  renames: Rename[];
  /** Whether the destination is to be made. */
  made: boolean;
  /** Whether a record of what is replaced moves with it. */
  keep: boolean;
  /** An undo copy that is older than what is replaced now, or whose tables become the destination's, and goes. */
  obsolete: string | null;
  /** Rights on the arriving routines besides those on routines of the same name. */
  grants?: RoutineGrant[];
}

/** Writes the journal, moves the tables and makes what belongs to them; how many milliseconds it took. */
export async function exchange(context: EngineContext, given: Exchange): Promise<number> {
  const { server, url, work, renames, made, code, definers, keep, obsolete, grants: theirs = [] } = given;
  const destination = url.database ?? '';
  checkCode(code, destination);
  const before = made
    ? { ...code, ...NO_CODE }
    : await readCode(server, destination, (what, why) => {
        const message = `The ${what} of ${destination} cannot be read, so tool undo will not bring it back: ${why}`;
        context.report({ event: 'warning', code: 'definition_unreadable', message });
      });
  const own = made ? [] : await grantsOf(context, server, destination);
  const of = await destinationName(server, destination);
  if (keep) {
    const record: KeptRecord = { of, replaced_at: context.clock().toISOString(), code: before, grants: own };
    await writeRecord(server, { database: work, table: KEPT, value: record });
  }
  const journal: Journal = { of, made, before, after: code, definers, grants: merged(own, theirs), obsolete };
  await writeJournal(server, work, journal);
  context.signal.throwIfAborted();
  await verifyLock(server, destination);
  const started = performance.now();
  if (made) await createDatabase(server, { name: destination, collations: code });
  else await clearWay(context, { url, before, arriving: renames.map(({ to: [, table] }) => table) });
  // Interrupted from here on the swap is over before anybody could see it half done.
  const finishing = { ...context, signal: AbortSignal.timeout(FINISH_TIMEOUT) };
  await renameAll(server, { destination, renames: [...renames, journalRename(work)] });
  await settle(finishing, { server, url, work });
  const swapMs = Math.round(performance.now() - started);
  await dropBeside(context, server, { name: work, destination });
  return swapMs;
}

/** Rights on the destination's routines; a warning where they cannot be read. */
async function grantsOf({ report }: EngineContext, server: Session, destination: string): Promise<RoutineGrant[]> {
  const grants = await readRoutineGrants(server, destination);
  if (grants) return grants;
  if (await hasRoutines(server, destination)) {
    const message = `The rights on routines of ${destination} cannot be read (SELECT on mysql.procs_priv): grant them again after the load`;
    report({ event: 'warning', code: 'not_carried_over', message });
  }
  return [];
}

/** Those of the destination, and of the others those for routines and accounts that it has none for. */
function merged(own: RoutineGrant[], others: RoutineGrant[]): RoutineGrant[] {
  const key = ({ kind, routine, user, host }: RoutineGrant): string => JSON.stringify([kind, routine, user, host]);
  return [...new Map([...others, ...own].map((grant) => [key(grant), grant])).values()];
}

const FINISH_TIMEOUT = 60_000;
const NO_CODE = { routines: [], views: [], triggers: [], events: [] };

interface Way {
  url: DatabaseUrl;
  before: CodeDefinitions;
  arriving: string[];
}

/** Tables with triggers do not move between databases, and where a view has the name a table cannot come. */
async function clearWay(context: EngineContext, { url, before, arriving }: Way): Promise<void> {
  await using session = await connect(context, url);
  const { fold } = await readNameCase(session, [...arriving, ...before.views.map(({ name }) => name)]);
  const names = new Set(arriving.map(fold));
  const views = before.views.filter(({ name }) => names.has(fold(name)));
  await dropCode(session, { ...before, ...NO_CODE, triggers: before.triggers, views });
}

/** Tables and sequences. */
export async function tablesOf(server: Session, database: string): Promise<string[]> {
  const rows = await server.query<{ name: string }>(`
    SELECT TABLE_NAME AS name FROM information_schema.TABLES
    WHERE ${tablesIn(database)} AND TABLE_TYPE <> 'VIEW' ORDER BY TABLE_NAME`);
  return rows.map(({ name }) => name);
}

/** All in one statement, which the server does whole or not at all. */
async function renameAll(
  server: Session,
  { destination, renames }: { destination: string; renames: Rename[] },
): Promise<void> {
  const path = ([database, table]: [string, string]): string => `${quoteName(database)}.${quoteName(table)}`;
  const statement = `RENAME TABLE ${renames.map(({ from, to }) => `${path(from)} TO ${path(to)}`).join(', ')}`;
  await server.execute(`SET SESSION lock_wait_timeout = ${RENAME_WAIT}, foreign_key_checks = 1`);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await server.execute(statement);
      return;
    } catch (error) {
      if (!(error instanceof SqlError && error.errno === LOCK_WAIT_TIMEOUT)) throw error;
      if (attempt === TRIES) throw sessionsStay(error);
      await endTransactions(server, destination);
    }
  }
}

/** Ends sessions on the destination that are in a transaction; the others do not stand in the way. */
async function endTransactions(server: Session, destination: string): Promise<void> {
  const sessions = await server
    .query<{ id: number }>(
      `SELECT p.ID AS id FROM information_schema.PROCESSLIST p JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.ID
       WHERE p.ID <> CONNECTION_ID() AND ${inDatabase('p.DB', destination)}`,
    )
    .catch(() => []);
  for (const { id } of sessions) await server.execute(`KILL ${Number(id)}`).catch(() => {});
}

function sessionsStay(cause: SqlError): UserError {
  return new UserError('Transactions on the destination do not end, so it cannot be swapped', {
    code: 'sessions_stay',
    exit: EXIT.failed,
    details: [cause.message],
    hint: 'The destination is as it was before. Stop what uses it, or load with a user that may end sessions and see them (PROCESS, CONNECTION_ADMIN).',
    cause,
  });
}
