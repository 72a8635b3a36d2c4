import type { DatabaseUrl } from '../../database-url.ts';
import { tableExists } from '../catalog/tables.ts';
import { quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { unless } from '../connection/session-errors.ts';
import { databaseExists, destinationName, readAuxiliaryNames } from '../server/server.ts';
import { DONE, type Journal, journalSchema, MOVED, PENDING } from './journal-schema.ts';
import { readRecord, writeRecord } from './record.ts';
import { counterStatement } from './row-exchange.ts';
import { completeCode, goBack, goForward, type SettleContext } from './settle-code.ts';
import { dropAuxiliaryDatabase, listShadowDatabases } from './shadow-databases.ts';
import { renameStatement, withoutDangling } from './swap-packet.ts';

export async function writeJournal(server: MysqlSession, work: string, journal: Journal): Promise<void> {
  await writeRecord(server, { database: work, table: PENDING, value: journal });
}

export interface Work {
  server: MysqlSession;
  url: DatabaseUrl;
  work: string;
}

export interface SettleResult {
  /** Tables of the destination: the new ones or the old ones; `null` without a journal. */
  tables: 'new' | 'old' | null;
  /** Objects that belong to the new tables, and that the server has refused. */
  missing: string[];
}

/**
 * Ends a swap of any session: forward when the tables have moved, back when they have not. May be
 * called again and again: a journal that is settled is removed. An object that the server refuses does not keep the
 * replaced tables from becoming the undo copy.
 */
export async function settle(context: SettleContext, { server, url, work }: Work): Promise<SettleResult> {
  const destination = url.database ?? '';
  const moved = await readJournal(server, { work, table: MOVED, destination });
  if (moved) {
    // It may have been dropped since.
    const hasCode = !moved.rows_only && (await databaseExists(server, destination));
    if (moved.rows_only) await goBack(context, { server, url, pending: moved });
    const missing = hasCode ? await goForward(context, url, moved) : [];
    await setCounters(server, moved);
    await renameLater(server, moved);
    await dropObsolete(context, server, { destination, journal: moved });
    // Replayed later, it would undo what has happened since.
    await server.execute(`DROP TABLE ${quotePath(work, MOVED)}`);
    return { tables: 'new', missing };
  }
  const done = await readJournal(server, { work, table: DONE, destination });
  if (done) {
    const missing = (await databaseExists(server, destination)) ? await completeCode(context, url, done) : [];
    await dropObsolete(context, server, { destination, journal: done });
    await server.execute(`DROP TABLE ${quotePath(work, DONE)}`);
    return { tables: 'new', missing };
  }
  const pending = await readJournal(server, { work, table: PENDING, destination });
  if (!pending) return { tables: null, missing: [] };
  await goBack(context, { server, url, pending });
  return { tables: 'old', missing: [] };
}

/** `ER_CANT_DROP_FIELD_OR_KEY`, `ER_NO_SUCH_TABLE`, `ER_BAD_DB_ERROR`: it is gone. */
const GONE = [1049, 1091, 1146];

async function setCounters(server: MysqlSession, { counters = [] }: Journal): Promise<void> {
  for (const counter of counters) {
    await server.execute(counterStatement(counter)).catch(unless(GONE, null));
  }
}

/** Runs the later renames of the journal, after the tables have moved, unless it was done before. */
async function renameLater(server: MysqlSession, { before, later = [] }: Journal): Promise<void> {
  const [first] = later;
  if (!first) return;
  if (await tableExists(server, ...first.to)) return;
  for (const statement of withoutDangling({ before, later })) {
    await server.execute(statement).catch(unless(GONE, null));
  }
  await server.execute(renameStatement(later));
}

/** A swap makes no other database obsolete than the undo copy, whatever the journal says. */
async function dropObsolete(
  context: SettleContext,
  server: MysqlSession,
  { destination, journal }: { destination: string; journal: Journal },
): Promise<void> {
  const { undo } = await readAuxiliaryNames(server, destination);
  if (journal.obsolete === undo) await dropAuxiliaryDatabase(context, server, { name: undo, destination });
}

/** The journal of a swap whose tables have moved and which has not ended, and the database that it is in. */
export async function findUnsettled(server: MysqlSession, destination: string) {
  for (const work of (await listShadowDatabases(server, destination)).leftovers) {
    const journal = await readJournal(server, { work, table: MOVED, destination });
    if (journal) return { work, journal };
  }
  return null;
}

async function readJournal(
  server: MysqlSession,
  { work, table, destination }: { work: string; table: string; destination: string },
): Promise<Journal | null> {
  const journal: Journal | null = await readRecord(server, { database: work, table, schema: journalSchema });
  const of = await destinationName(server, destination);
  return journal && (journal.of ?? of) === of ? journal : null;
}
