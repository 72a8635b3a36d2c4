import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import { tableName } from '../../../../text/table-names.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { InPlaceChanges, InPlaceReset } from '../../../facets/reset.ts';
import { usableBase } from '../../../shared/base-copies.ts';
import { prepareSession } from '../../../shared/prepare-session.ts';
import { replicatesStatements } from '../../catalog/introspect.ts';
import { readTables } from '../../catalog/tables.ts';
import { connect, connectToServer } from '../../connection/connect.ts';
import { quoteName, quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { counterOf } from '../../restore/stored-table.ts';
import { BASE } from '../../server/names.ts';
import { lockDestination, readAuxiliaryNames, verifyLock } from '../../server/server.ts';
import { SETTINGS } from '../../swap/row-exchange.ts';
import { haveRows, readUpdated } from '../base-changes.ts';
import { findBaseCopies } from '../base-copies.ts';
import { type BaseRecord, readBaseRecord } from '../base-record.ts';
import {
  aliasesOf,
  type ComparedTable,
  fillDifferingRows,
  findDifferingRows,
  replaceDifferingRows,
  type TableChanges,
} from './differing-rows.ts';
import { whyDefinitionsDiffer } from './same-definitions.ts';

/** Rows up to which replacing them takes less time than a copy. */
const MOST_ROWS = 100_000;

/** Finds what a reset in place would change, or why there can be none. Changes nothing. */
export async function planInPlace(context: EngineContext, url: DatabaseUrl): Promise<InPlaceChanges | string> {
  return orReason(async () => {
    await using session = await openSession(context, url);
    const found = await findChanges(session, url);
    return typeof found === 'string' ? found : changesOf(found.changes);
  });
}

/**
 * Makes the rows of the destination those of its base copy, in one transaction that ends no session; resolves with the
 * reason where that cannot be, and nothing was changed.
 */
export async function resetInPlace(
  context: EngineContext,
  { url, accept }: InPlaceReset,
): Promise<InPlaceChanges | string> {
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url);
  await lockDestination(server, destination);
  accept(usableBase(await findBaseCopies(server, destination), url));
  const replaced = startStep(context.report, 'swap', `Reset ${destination} in place`);
  const changes = await orReason(() => exchange(context, server, url));
  if (typeof changes === 'string') replaced(`${destination} cannot be reset in place: ${changes}`);
  else replaced(`Reset ${destination} in place: ${formatNumberOf(changes.tables.length, 'table')} changed`);
  return changes;
}

function openSession(context: EngineContext, url: DatabaseUrl): Promise<MysqlSession> {
  return connect(context, url).then((opened) =>
    prepareSession(opened, async (session) => {
      await session.execute(SETTINGS);
      if (await replicatesStatements(session)) return;
      await session.execute('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    }),
  );
}

/** `ER_LOCK_WAIT_TIMEOUT`, `ER_LOCK_DEADLOCK`. */
const LOCKED = [1205, 1213];

/** Returns an error of the server as the reason for the other way: the transaction is rolled back with its session. */
async function orReason<Result>(work: () => Promise<Result>): Promise<Result | string> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    return LOCKED.includes(error.errno)
      ? 'other sessions keep its tables locked'
      : `the server refuses: ${error.message}`;
  }
}

function changesOf(changes: TableChanges[]): InPlaceChanges {
  return {
    tables: changes.map((one) => ({
      ...{ table: tableName(one.table.destination, one.table.name), delete: one.delete, insert: one.insert },
    })),
    sequences: 0,
  };
}

interface FoundChanges {
  record: BaseRecord;
  tables: ComparedTable[];
  changes: TableChanges[];
}

/** The keys of what differs are in temporary tables of the session. */
async function findChanges(session: MysqlSession, url: DatabaseUrl): Promise<FoundChanges | string> {
  const destination = url.database ?? '';
  const { of, base } = await readAuxiliaryNames(session, destination);
  const record = await readBaseRecord(session, { database: base, table: BASE, of });
  if (!record) return 'the base copy is of another state';
  const differ = await whyDefinitionsDiffer(session, destination, record);
  if (differ !== null) return differ;
  const rows = new Map(record.tables.map((table) => [table.name, table.rows]));
  const catalog = await readTables(session, destination);
  const unfit = catalog.find(
    ({ name, engine, isVersioned, key }) => !rows.has(name) || engine !== 'InnoDB' || isVersioned || key.length === 0,
  );
  if (unfit) return `${unfit.name} has no primary key, or is no InnoDB table without versions`;
  if (!(await haveRows(session, base, record))) return 'the base copy was changed';
  const tables = catalog.map((table, at) => ({ ...table, base, destination, rows: rows.get(table.name) ?? 0, at }));
  const triggered = new Set(record.definitions.triggers.length > 0 ? await tablesWithTriggers(session) : []);
  const changes: TableChanges[] = [];
  for (const table of tables) {
    const found = await findDifferingRows(session, table);
    if (found.delete + found.insert === 0) continue;
    if (triggered.has(table.name)) return `${table.name} has triggers, which no transaction turns off`;
    changes.push(found);
  }
  const amount = changes.reduce((sum, one) => sum + one.delete + one.insert, 0);
  if (amount > MOST_ROWS) return `${formatNumberOf(amount, 'row')} have changed, which is too many`;
  return { record, tables, changes };
}

async function tablesWithTriggers(session: MysqlSession): Promise<string[]> {
  const rows = await session.query<{ name: string }>(
    'SELECT DISTINCT EVENT_OBJECT_TABLE AS name FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE()',
  );
  return rows.map(({ name }) => name);
}

async function exchange(
  context: EngineContext,
  server: MysqlSession,
  url: DatabaseUrl,
): Promise<InPlaceChanges | string> {
  const destination = url.database ?? '';
  await using session = await openSession(context, url);
  const since = await secondsAgo(session, MARGIN_SECONDS);
  const found = await findChanges(session, url);
  if (typeof found === 'string') return found;
  const { record, tables } = found;
  await session.execute('SET autocommit = 0');
  await session.execute(`LOCK TABLES ${locksOf(found).join(', ')}`);
  // In a session without locks, which excludes nothing.
  const differ = await whyDefinitionsDiffer(server, destination, record);
  if (differ !== null) return differ;
  const { updated } = await readUpdated(server, destination);
  const changed = new Map(found.changes.map((one) => [one.table.name, one]));
  for (const table of tables) {
    // What was written to since the comparison began, or may have been, is compared again.
    const time = updated.get(table.name);
    if (time !== null && time !== undefined && time < since) continue;
    const again = await fillDifferingRows(session, table);
    if (changed.has(table.name)) changed.set(table.name, again);
    else if (again.delete + again.insert > 0) return 'other sessions change its tables';
  }
  const changes = [...changed.values()];
  for (const one of changes) await replaceDifferingRows(session, one);
  context.signal.throwIfAborted();
  await verifyLock(server, destination);
  await session.execute('COMMIT');
  const creates = new Map(record.definitions.tables.map(({ name, create }) => [name, create]));
  for (const { table } of changes) {
    // No transaction includes the counters.
    const counter = counterOf(creates.get(table.name) ?? '');
    await session.execute(`ALTER TABLE ${quoteName(table.name)} AUTO_INCREMENT = ${BigInt(counter)}`);
  }
  await session.execute('UNLOCK TABLES');
  return changesOf(changes);
}

/** A commit takes its time by the second, and is seen a moment later. */
const MARGIN_SECONDS = 2;

async function secondsAgo(session: MysqlSession, seconds: number): Promise<string> {
  const [row] = await session.query<{ time: string }>(
    `SELECT CAST(NOW(0) - INTERVAL ${Number(seconds)} SECOND AS CHAR) AS time`,
  );
  return row?.time ?? '';
}

/** Tables that are not changed can be read meanwhile. */
function locksOf({ tables, changes }: FoundChanges): string[] {
  const changed = new Set(changes.map(({ table }) => table.name));
  return tables.flatMap(({ name, base, destination, at }) => {
    const { b, d } = aliasesOf({ at });
    const [own, other] = [quotePath(destination, name), quotePath(base, name)];
    const how = changed.has(name) ? 'WRITE' : 'READ';
    return [`${own} ${how}`, `${own} AS ${d} ${how}`, `${other} AS ${b} READ`];
  });
}
