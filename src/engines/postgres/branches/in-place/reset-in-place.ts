import * as v from 'valibot';
import { UserError } from '../../../../runtime/errors.ts';
import { startStep } from '../../../../runtime/events.ts';
import { mapWithConcurrency } from '../../../../runtime/map-with-concurrency.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import { tableName } from '../../../../text/table-names.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { InPlaceChanges, InPlaceReset, PlannedInPlace } from '../../../facets/reset.ts';
import { usableBase } from '../../../shared/base-copies.ts';
import { quoteNumber, quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { betweenSessions, openReaders, type Readers } from '../../dump/unchanged/readers.ts';
import { findAuxiliaryDatabases, lockDestination, verifyLock } from '../../server/server.ts';
import type { MarkedDatabase } from '../../swap/mark.ts';
import { openSwapSession } from '../../swap/swap-session.ts';
import { findBaseCopies } from '../base-copies.ts';
import type { FoundChanges, RestoredTables } from './changed-versions.ts';
import { type SeenChanges, seenChangesSchema } from './evidence-schema.ts';
import { findFewChanges, MOST_BYTES, orReason, TOO_LARGE } from './few-changes.ts';
import { keepRows } from './kept-rows.ts';
import { readPages } from './missing-versions.ts';
import { NOT_ALONE, type OpenedBase, SETTINGS, withOpenBase } from './open-base.ts';
import { type ReplacedRows, replaceVersions } from './replace-versions.ts';
import { pathOf } from './row-places.ts';
import { readVersions, type TableVersions } from './row-versions.ts';

/** Finds what a reset in place would change, or why there can be none. Changes nothing. */
export async function planInPlace(
  context: EngineContext,
  { url, base }: { url: DatabaseUrl; base: MarkedDatabase | null },
): Promise<PlannedInPlace | string> {
  const opened = await openReaders(context, { url, settings: SETTINGS }).catch((error) => {
    context.signal.throwIfAborted();
    if (!(error instanceof UserError)) throw error;
    return error;
  });
  if (opened instanceof UserError) return 'it admits no connection';
  await using readers = opened;
  // Reading maps would give it a number, by which the reset would look again at the changes.
  await readers.session.execute('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const found = await orReason(() => findFewChanges(readers, { evidence: base?.mark.evidence }));
  if (typeof found === 'string') return found;
  const { at, xmin, tables } = found;
  // Without what only this process can use.
  return { ...changesOf(found), seen: v.parse(seenChangesSchema, { at, xmin, tables }) };
}

function changesOf({ tables, sequences }: FoundChanges): InPlaceChanges {
  return {
    tables: tables.map(({ schema, name, fresh, missing }) => ({
      ...{ table: tableName(schema, name), delete: fresh, insert: missing ?? 0 },
    })),
    sequences: sequences.length,
  };
}

/**
 * Makes the destination equal to its base copy, in one transaction that ends no session; resolves with the reason where
 * that cannot be, and nothing was changed.
 */
export async function resetInPlace(context: EngineContext, { url, accept, seen }: InPlaceReset) {
  const destination = url.database ?? '';
  await using server = await openSwapSession(context, url);
  await lockDestination(server, destination);
  accept(usableBase(await findBaseCopies(server, destination), url));
  const { base } = await findAuxiliaryDatabases(server, destination);
  if (!base) throw new Error('the base copy is gone');
  const replaced = startStep(context.report, 'swap', `Reset ${destination} in place`);
  await using readers = await openReaders(context, { url, settings: SETTINGS });
  const { success, output } = v.safeParse(seenChangesSchema, seen);
  const changes = await exchangeRows(context, {
    url,
    base,
    server,
    readers,
    locked: destination,
    seen: success ? output : null,
  });
  if (typeof changes === 'string') replaced(`${destination} cannot be reset in place: ${changes}`);
  else replaced(`Reset ${destination} in place: ${formatNumberOf(changes.tables.length, 'table')} changed`);
  return changes;
}

export interface RowExchange {
  /** The destination that the base copy is of. */
  url: DatabaseUrl;
  base: MarkedDatabase;
  server: PostgresSession;
  /** Sessions of the database that is to be equal to the base copy. */
  readers: Readers;
  /** The name whose lock the session on the server holds. */
  locked: string;
  seen?: SeenChanges | null;
  /** Facts of earlier resets over the same sessions, to which this one adds. */
  kept?: RestoredTables | undefined;
}

/** Exchanges the rows that differ, or resolves with the reason for which nothing was changed. No transaction is left. */
export async function exchangeRows(context: EngineContext, given: RowExchange): Promise<InPlaceChanges | string> {
  const { readers } = given;
  const changes = await orReason(() => exchange(context, given));
  // Where the connection is lost, the server ends what it began.
  await readers.end().catch(() => {});
  return changes;
}

async function exchange(context: EngineContext, given: RowExchange): Promise<InPlaceChanges | string> {
  const { url, base, server, readers, locked, seen = null, kept } = given;
  const database = readers.session;
  await database.execute('BEGIN ISOLATION LEVEL READ COMMITTED');
  await lockTables(database);
  const found = await findFewChanges(readers, { evidence: base.mark.evidence, seen, kept });
  if (typeof found === 'string') return found;
  const { tables } = found;
  const read = readAll(context, { server, url, base, database, found });
  let changed: ReplacedRows[];
  try {
    await database.execute('SET LOCAL session_replication_role = replica');
    const replaced = await mapWithConcurrency([...tables.entries()], AT_ONCE, async ([at, table]) =>
      replaceVersions(database, { table, versions: read.versions[at] ?? TOO_LARGE }),
    );
    const refusal = replaced.find((one) => typeof one === 'string');
    if (refusal !== undefined) return refusal;
    changed = replaced.filter((one) => typeof one !== 'string');
    if (kept) await keepRows(database, { kept, found, changed });
    await restoreSequences(database, found.sequences);
  } finally {
    // What has failed first is the reason.
    await read.ended.catch(() => {});
  }
  await read.ended;
  context.signal.throwIfAborted();
  await verifyLock(server, locked);
  await database.execute('COMMIT');
  return {
    tables: changed.map(({ table: { schema, name }, deleted, inserted }) => ({
      table: tableName(schema, name),
      delete: deleted,
      insert: inserted,
    })),
    sequences: found.sequences.length,
  };
}

/** Tables whose statements are sent before those of others are answered. */
const AT_ONCE = 8;

interface RowsToCompare extends OpenedBase {
  server: PostgresSession;
  database: PostgresSession;
  found: FoundChanges;
}

/** Reads the rows of one table after the other, while those of the earlier ones are written; then the base copy is closed. */
function readAll(
  context: EngineContext,
  { server, url, base, database, found: { tables, border, sessions } }: RowsToCompare,
): { versions: Promise<TableVersions | string>[]; ended: Promise<void> } {
  const results = tables.map(() => Promise.withResolvers<TableVersions | string>());
  for (const { promise } of results) promise.catch(() => {});
  const read = async (from: PostgresSession | null): Promise<boolean> => {
    const pages = from && (await readPages(from, tables));
    const own = sessions.length > 1 ? sessions : [database, database];
    await betweenSessions(own, [...tables.entries()], async (session, [at, table]) => {
      const base = from && { session: from, pages: pages?.[at] ?? 0 };
      const versions = await readVersions({ table, border, database: session, base, mostBytes: MOST_BYTES });
      results[at]?.resolve(versions ?? TOO_LARGE);
    });
    return true;
  };
  const needsBase = tables.some(({ missing }) => missing !== 0);
  const ended = needsBase ? withOpenBase(context, server, { url, base, work: read }) : read(null);
  const settled = ended.then(
    (done) => {
      if (done === null) for (const { resolve } of results) resolve(NOT_ALONE);
    },
    (error) => {
      for (const { reject } of results) reject(error);
      throw error;
    },
  );
  settled.catch(() => {});
  return { versions: results.map(({ promise }) => promise), ended: settled };
}

async function restoreSequences(database: PostgresSession, sequences: FoundChanges['sequences']): Promise<void> {
  for (const { schema, name, value, called } of sequences) {
    const path = pathOf({ schema, name });
    // New storage, so that a rollback undoes setval too.
    await database.execute(`ALTER SEQUENCE ${path} RESTART`);
    await database.execute(
      `SELECT setval(${quoteText(path)}::regclass, ${quoteNumber(BigInt(value))}, ${called ? 'true' : 'false'})`,
    );
  }
}

/** Keeps writers out, and lets readers in. */
async function lockTables(session: PostgresSession): Promise<void> {
  const tables = await session.query<{ schema: string; name: string }>(`
    SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY c.oid`);
  if (tables.length === 0) return;
  const list = tables.map((table) => `ONLY ${pathOf(table)}`).join(', ');
  await session.execute(`LOCK TABLE ${list} IN SHARE ROW EXCLUSIVE MODE`);
}
