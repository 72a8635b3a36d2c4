import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import { tableName } from '../../../../text/table-names.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { BaseCopy } from '../../../facets/copies.ts';
import type { InPlaceChanges, InPlaceReset } from '../../../facets/reset.ts';
import { usableBase } from '../../../shared/base-copies.ts';
import { prepareSession } from '../../../shared/connection/prepare-session.ts';
import { replicatesStatements } from '../../catalog/introspect.ts';
import { connect, connectToServer } from '../../connection/connect.ts';
import { LOCKED } from '../../connection/error-numbers.ts';
import { inSessions } from '../../connection/in-sessions.ts';
import { quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { lockDestination, verifyLock } from '../../server/server.ts';
import { assertNoForeignReferences } from '../../swap/foreign-references.ts';
import { counterStatement, SETTINGS } from '../../swap/row-exchange.ts';
import { findBaseCopies } from '../base/base-copies.ts';
import { checksumOf } from '../row-checksum.ts';
import {
  type ComparedRows,
  type ComparedTable,
  countDifferingRows,
  exchangeDifferingRows,
  locksOf,
  type TableChanges,
  writeAgain,
} from './differing-rows.ts';
import { type DatabaseToReset, type DoubtfulTables, findDoubtfulTables } from './doubtful-tables.ts';
import {
  findForgotten,
  parseUnwritten,
  provableStates,
  recordUnwritten,
  type TableStates,
  type Unwritten,
  unwrittenOf,
} from './unwritten-tables.ts';

/** Rows up to which exchanging them takes less time than a copy. */
const MOST_ROWS = 100_000;

/** Finds what a reset in place would change, and the tables that have the rows of the base copy; or why there can be none. Changes nothing. */
export async function planInPlace(context: EngineContext, { url, base }: { url: DatabaseUrl; base: BaseCopy }) {
  const database = url.database ?? '';
  return orReason(async () => {
    await using session = await openResetSession(context, url);
    const found = await findDoubtfulTables(session, { database, destination: database, base });
    if (typeof found === 'string') return found;
    // Before the rows are read.
    const states = await provableStates(session, database, { unlocked: true });
    const compared = await compareRows(context, { url, tables: found.compared });
    const equal = new Set(compared.flatMap(({ table, isEqual }) => (isEqual ? [table.name] : [])));
    for (const name of states.keys()) if (!equal.has(name)) states.delete(name);
    return whyNot(found, compared) ?? { ...changesOf(found, compared), seen: unwrittenOf(found.id, states) };
  });
}

async function compareRows(context: EngineContext, { url, tables }: { url: DatabaseUrl; tables: ComparedTable[] }) {
  const compared: ComparedRows[] = [];
  await inSessions(context, {
    url,
    queue: tables.toSorted((one, other) => other.rows - one.rows),
    prepare: prepareReset,
    async work(session, table) {
      compared.push(await countDifferingRows(session, table));
    },
  });
  return compared.sort((one, other) => one.table.at - other.table.at);
}

/**
 * Makes the destination equal to its base copy, in one transaction that ends no session; resolves with the reason where
 * that cannot be, and nothing was changed.
 */
export async function resetInPlace(context: EngineContext, { url, accept, seen }: InPlaceReset) {
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url, { several: true });
  // Its own statements wait no longer either.
  await server.execute(SETTINGS);
  await lockDestination(server, destination);
  const base = usableBase(await findBaseCopies(server, destination), url);
  accept(base);
  const replaced = startStep(context.report, 'swap', `Reset ${destination} in place`);
  await using session = await openResetSession(context, url);
  const changes = await exchangeRows(context, {
    ...{ server, session, reset: { database: destination, destination, base }, seen: parseUnwritten(seen) },
    keep: (found, states) => recordUnwritten(server, { database: found.base, base: found.id, states }),
  });
  if (typeof changes === 'string') replaced(`${destination} cannot be reset in place: ${changes}`);
  else replaced(`Reset ${destination} in place: ${formatNumberOf(changes.tables.length, 'table')} changed`);
  return changes;
}

export async function openResetSession(context: EngineContext, url: DatabaseUrl): Promise<MysqlSession> {
  return prepareSession(await connect(context, url, { several: true }), prepareReset);
}

async function prepareReset(session: MysqlSession): Promise<void> {
  await session.execute(SETTINGS);
  if (await replicatesStatements(session)) return;
  await session.execute('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
}

/** Returns an error of the server as the reason for the other way: the transaction is rolled back with its session. */
async function orReason<Result>(work: () => Promise<Result>): Promise<Result | string> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    return LOCKED.has(error.errno) ? 'other sessions keep its tables locked' : `the server refuses: ${error.message}`;
  }
}

function whyNot({ triggered }: DoubtfulTables, changes: TableChanges[]): string | null {
  const fires = changes.find(({ table, ...rows }) => rows.delete + rows.insert > 0 && triggered.has(table.name));
  if (fires) return `${fires.table.name} has triggers, which no transaction turns off`;
  const amount = changes.reduce((sum, one) => sum + one.delete + one.insert, 0);
  return amount > MOST_ROWS ? `${formatNumberOf(amount, 'row')} have changed, which is too many` : null;
}

function changesOf({ counters }: DoubtfulTables, changes: TableChanges[]): InPlaceChanges {
  return {
    tables: changes.flatMap((one) =>
      one.delete + one.insert === 0 && !counters.has(one.table.name)
        ? []
        : [{ table: tableName(one.table.database, one.table.name), delete: one.delete, insert: one.insert }],
    ),
    sequences: 0,
  };
}

export interface RowExchange {
  /** Holds the lock of the database, and reads definitions and times while the other session has tables locked. */
  server: MysqlSession;
  session: MysqlSession;
  reset: DatabaseToReset;
  /** Evidence besides the recorded. */
  seen: Unwritten | null;
  /** Keeps the states in which tables have the rows of the base copy. Called before the commit. */
  keep: (found: DoubtfulTables, states: TableStates) => Promise<void>;
}

/** Exchanges the rows that differ, in one transaction; or resolves with the reason for which nothing was changed. */
export function exchangeRows(context: EngineContext, exchange: RowExchange): Promise<InPlaceChanges | string> {
  return orReason(() => exchangeLocked(context, exchange));
}

async function exchangeLocked(context: EngineContext, { server, session, reset, seen, keep }: RowExchange) {
  const { database } = reset;
  const locked = await lockTables(server, { session, reset, seen });
  if (typeof locked === 'string') return locked;
  const { tables, found } = locked;
  await assertNoForeignReferences(server, database);
  const states = new Map([...found.unwritten, ...(await provableStates(server, database))]);
  const forgotten = tables.length > 0 ? await findForgotten(server, database) : new Set();
  const changes: TableChanges[] = [];
  for (const table of tables) {
    if ((await checksumOf(session, table.base, table)) !== table.checksum)
      return `${table.name} of the base copy was changed`;
    const change = await exchangeUnlessTriggered(session, { table, found });
    changes.push(change);
    const why = whyNot(found, changes) ?? (await whyMisplaced(session, { table, found }));
    if (why !== null) return why;
    if (change.delete + change.insert > 0) states.delete(table.name);
    else if (forgotten.has(table.name) && !found.triggered.has(table.name)) await writeAgain(session, table);
  }
  await keep(found, states);
  context.signal.throwIfAborted();
  await verifyLock(server, database);
  await commit(session, found);
  return changesOf(found, changes);
}

function exchangeUnlessTriggered(
  session: MysqlSession,
  { table, found }: { table: ComparedTable; found: DoubtfulTables },
): Promise<TableChanges> {
  return found.triggered.has(table.name) ? countDifferingRows(session, table) : exchangeDifferingRows(session, table);
}

/** A row in another partition than its own is equal, and not found by its key. */
async function whyMisplaced(session: MysqlSession, { table, found }: { table: ComparedTable; found: DoubtfulTables }) {
  if (!found.partitioned.has(table.name) || (await countDifferingRows(session, table)).isEqual) return null;
  return `${table.name} has rows in other partitions than their own`;
}

/** Times that tables are locked which others have begun to change while the locks were waited for. */
const ATTEMPTS = 3;

/** Locks all tables, then finds the doubtful ones again, which cannot change any more. Returns those to compare. */
async function lockTables(
  server: MysqlSession,
  { session, reset, seen }: Pick<RowExchange, 'session' | 'reset' | 'seen'>,
): Promise<{ tables: ComparedTable[]; found: DoubtfulTables } | string> {
  await session.execute('SET autocommit = 0');
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const before = await findDoubtfulTables(server, reset, seen);
    if (typeof before === 'string') return before;
    const { compared: tables } = before;
    await session.execute(`LOCK TABLES ${allLocks(before).join(', ')}`);
    const found = await findDoubtfulTables(server, reset, seen);
    if (typeof found === 'string') return found;
    const names = new Set(tables.map(({ name }) => name));
    if (found.compared.every(({ name }) => names.has(name))) return { tables, found };
    await session.execute('UNLOCK TABLES');
  }
  return 'other sessions change its tables';
}

/** Tables that are not compared may be read meanwhile, and not written to. */
function allLocks({ database, compared, unwritten }: DoubtfulTables): string[] {
  const others = [...unwritten.keys()].map((name) => `${quotePath(database, name)} READ`);
  return [...compared.flatMap(locksOf), ...others];
}

/** In one packet, which the server runs to its end without its client. No transaction includes the counters. */
async function commit(session: MysqlSession, { counters, database }: DoubtfulTables): Promise<void> {
  const statements = [
    'COMMIT',
    ...[...counters].map(([name, next]) => counterStatement({ table: [database, name], next })),
    'UNLOCK TABLES',
  ];
  for (const answer of await session.queryEach(statements)) if (answer instanceof SqlError) throw answer;
}
