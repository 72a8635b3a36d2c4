import { UserError } from '../../../../runtime/errors.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { ReplaceResult } from '../../../facets/restore.ts';
import { prepareSession } from '../../../shared/connection/prepare-session.ts';
import { tablesLocked } from '../../../shared/rows/only-rows.ts';
import { assertRowsOf, presentBranch } from '../../branches/last-switch.ts';
import { readDependents } from '../../catalog/definitions/foreign-keys.ts';
import { showTables } from '../../catalog/definitions/show-tables.ts';
import { tablesOf } from '../../catalog/tables.ts';
import { connect, connectToServer } from '../../connection/connect.ts';
import { LOCKED } from '../../connection/error-numbers.ts';
import { releasable } from '../../connection/keep-alive.ts';
import { asTable, quoteName, quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import {
  createDatabase,
  databaseExists,
  lockDestination,
  readAuxiliaryNames,
  verifyLock,
} from '../../server/server.ts';
import { settle, writeJournal } from '../../swap/journal.ts';
import { type Journal, MOVED, PENDING, type Rename } from '../../swap/journal-schema.ts';
import { settleAfterFailure, sweepLeftovers } from '../../swap/leftovers.ts';
import { makeRecordTable, writeRecord } from '../../swap/record.ts';
import { SETTINGS } from '../../swap/row-exchange.ts';
import { assertNoForeignObjects, createShadowDatabase, dropAuxiliaryDatabase } from '../../swap/shadow-databases.ts';
import { UNDO_COPY, type UndoCopyRecord, type UndoTable } from '../../swap/undo-copy.ts';
import { analyzeTables } from '../statistics.ts';
import { counterOf } from '../stored-table.ts';
import { commitLocked, type LockedCommit, type RowExchangeOptions } from './commit-locked.ts';
import { countRows, readReferences, verifyReferences } from './references.ts';
import { readTriggers, triggerTimes } from './triggers.ts';

/**
 * Replaces rows in one transaction, under the destination's lock. It copies the previous ones beside the destination
 * first, and moves the record of a journal last, so that the place of the record tells whether it was committed: then the
 * copies become the undo copy, by this run or the next one.
 */
export async function replaceRows(context: EngineContext, replaced: RowExchangeOptions): Promise<ReplaceResult> {
  const { url, undo, tables } = replaced;
  const destination = url.database ?? '';
  const { signal, release: begun } = releasable(context.signal);
  await using server = await connectToServer({ signal }, url, { several: true });
  await lockDestination(server, destination);
  await sweepLeftovers(context, { server, url });
  await assertRowsOf(server, url, replaced.rowsOf);
  await assertNoForeignObjects(context, server, { destination, undo });
  const names = await readAuxiliaryNames(server, destination);
  const work = names.shadow();
  const retired = names.shadow();
  const stage = names.shadow();
  const beside = [work, retired];
  try {
    const code = await readDependents(server, destination, () => {});
    const known = await triggerTimes(server, destination);
    const triggers = await readTriggers(server, { url, names: tables.map(({ table }) => table) });
    if (triggers.length > 0) beside.push(stage);
    for (const name of beside) await createShadowDatabase(server, { name, destination, collations: code });
    const counters = await readCounters(server, replaced);
    const journal: Journal = {
      ...{ of: names.of, made: false, before: { ...code, ...NO_CODE, triggers }, after: code },
      ...{ definers: 'theirs' as const, obsolete: null },
      rows_only: true,
      counters: tables.map(({ table, counter }) => ({
        table: [destination, table] as [string, string],
        next: counter,
      })),
    };
    if (undo) {
      for (const { table } of tables) {
        await server.execute(`CREATE TABLE ${quotePath(work, table)} LIKE ${quotePath(destination, table)}`);
      }
      if (!(await databaseExists(server, names.undo))) {
        await createDatabase(server, { name: names.undo, collations: code });
      }
      const record: UndoCopyRecord = {
        ...{ of: names.of, replaced_at: context.clock().toISOString(), code },
        rows_of: await presentBranch(server, destination),
        rows: tables.map(({ name, table, columns }, at) => ({ name, table, columns, counter: counters[at] ?? '1' })),
      };
      await writeRecord(server, { database: work, table: UNDO_COPY, value: record });
      journal.later = await laterRenames(server, { undo: names.undo, work, retired, tables });
    }
    await writeJournal(server, work, journal);
    await makeRecordTable(server, { database: work, table: MOVED });
    if (triggers.length === 0) await commitRows(context, { replaced, server, work });
    else await commitLocked(context, { replaced, server, work, stage, before: journal.before, known, begun });
    await settle({ report: context.report }, { server, url, work });
  } catch (error) {
    await server.close();
    throw lockedOr(await settleAfterFailure(context, url, error));
  }
  for (const name of beside) await dropAuxiliaryDatabase(context, server, { name, destination });
  await analyzeTables(context, { url, sessions: 1, only: tables.map(({ table }) => table) });
  return { swapMs: null, undoDatabase: undo ? names.undo : null };
}

async function readCounters(server: MysqlSession, { url, tables }: RowExchangeOptions): Promise<string[]> {
  const shown = await showTables(
    server,
    url.database ?? '',
    tables.map(({ table }) => table),
  );
  return shown.map((create) => {
    if (create instanceof SqlError) throw create;
    return counterOf(create);
  });
}

/** The copies take the place of an older undo copy. */
async function laterRenames(
  server: MysqlSession,
  { undo, work, retired, tables }: { undo: string; work: string; retired: string; tables: Pick<UndoTable, 'table'>[] },
): Promise<Rename[]> {
  const older = await tablesOf(server, undo);
  return [
    ...older.map((table, at): Rename => ({ from: [undo, table], to: [retired, `kept-${at}`] })),
    ...[...tables.map(({ table }) => table), UNDO_COPY].map(
      (table): Rename => ({ from: [work, table], to: [undo, table] }),
    ),
  ];
}

async function commitRows(
  context: EngineContext,
  { replaced: { url, undo, schema, tables }, server, work }: Pick<LockedCommit, 'replaced' | 'server' | 'work'>,
): Promise<void> {
  const database = url.database ?? '';
  await using session = await prepareSession(await connect(context, url), async ({ execute }) => {
    for (const statement of [SETTINGS, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ']) await execute(statement);
  });
  await session.execute('START TRANSACTION');
  for (const { name, table, columns, fill } of tables) {
    const path = quotePath(database, table);
    const list = columns.map(quoteName).join(', ');
    // Locks all rows, and the gaps between them.
    const present = await countRows(session, `SELECT COUNT(*) AS amount FROM ${asTable(path)} FOR UPDATE`);
    const kept = undo
      ? (await session.execute(`INSERT INTO ${quotePath(work, table)} (${list}) SELECT ${list} FROM ${asTable(path)}`))
          .rows
      : present;
    const deleted = (await session.execute(`DELETE FROM ${path}`)).rows;
    if (kept !== present || deleted !== present) {
      throw new Error(`${name}: ${present} rows were found, ${kept} kept and ${deleted} deleted`);
    }
    await fill(session);
  }
  await verifyReferences(session, { references: await readReferences(session, { database, tables, schema }), tables });
  const [pending, moved] = [quotePath(work, PENDING), quotePath(work, MOVED)];
  await session.execute(`INSERT INTO ${moved} SELECT id, json FROM ${pending}`);
  await session.execute(`DELETE FROM ${pending}`);
  context.signal.throwIfAborted();
  await verifyLock(server, database);
  await session.execute('COMMIT');
}

/** The code that stays is not part of the journal. */
const NO_CODE = { routines: [], views: [], events: [], dangling: [], defaults: [] };

function lockedOr(error: unknown): unknown {
  const cause = error instanceof UserError ? error.cause : error;
  if (!(cause instanceof SqlError && LOCKED.has(cause.errno))) return error;
  return tablesLocked([cause.message], cause);
}
