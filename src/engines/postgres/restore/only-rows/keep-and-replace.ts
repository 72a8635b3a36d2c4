import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { ReplaceResult } from '../../../facets/restore.ts';
import { destinationBusy } from '../../../shared/destination-lock.ts';
import { reportSwept } from '../../../shared/swap-incomplete.ts';
import { connectToServer } from '../../connection/connect.ts';
import { quoteText } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { createDatabase, markNew } from '../../server/new-database.ts';
import {
  auxiliaryNames,
  dropMarked,
  findAuxiliaryDatabases,
  lockDestination,
  readOid,
  sweepLeftovers,
  verifyLock,
} from '../../server/server.ts';
import { analyzeTablesOf } from '../../statistics/gather.ts';
import { checkSwap } from '../../swap/blockers.ts';
import { dropAfterFailure } from '../../swap/drop-after-failure.ts';
import { assertRowsOf, type NewMark, writeMark } from '../../swap/mark.ts';
import { databaseExists, rename } from '../../swap/swap.ts';
import { openSwapSession } from '../../swap/swap-session.ts';
import { type RowReplacement, replaceTables } from './replace-tables.ts';

export interface RowReplacementRequest extends Omit<RowReplacement, 'keeper'> {
  undo: boolean;
  /** The role may create databases beside the destination; without that there is no lock and no undo copy. */
  maySwap: boolean;
  /** Time of the undo copy that the rows come from. */
  from?: string;
}

/**
 * Replaces rows under the destination's lock. The previous ones are kept in a database beside it, which becomes the undo
 * copy with the commit that replaces the rows; an older undo copy goes.
 */
export async function keepAndReplace(
  context: EngineContext,
  { undo, maySwap, from, ...replacement }: RowReplacementRequest,
): Promise<ReplaceResult> {
  const { url, tables } = replacement;
  const replaceOnly = async (): Promise<ReplaceResult> => {
    await replaceTables(context, { ...replacement, keeper: null });
    await analyzed(context, replacement);
    return { swapMs: null, undoDatabase: null };
  };
  if (!maySwap) return await replaceOnly();
  const { report } = context;
  const destination = url.database ?? '';
  await using server = await openSwapSession(context, url);
  await lockDestination(server, destination);
  for (const warning of await checkSwap(server, { destination, undo })) report(warning);
  reportSwept(report, await sweepLeftovers(server, destination, report));
  if (!undo) return await replaceOnly();
  const names = auxiliaryNames(destination);
  const [database, retired] = [names.shadow(), names.shadow()];
  const { undo: older } = await findAuxiliaryDatabases(server, destination);
  if (from !== undefined && older?.mark.replaced_at !== from) throw destinationBusy(destination);
  const destination_oid = await readOid(server, destination);
  if (from !== undefined && older) assertRowsOf(url, older.mark, destination_oid);
  const mark: NewMark = {
    tool: 'undo',
    of: destination,
    replaced_at: context.clock().toISOString(),
    destination_oid,
    rows: {
      tables: tables.map(({ name, schema, table, columns }) => ({ name, schema, table, columns })),
      sequences: [],
      ...(replacement.allowsCode && { allows_code: true as const }),
    },
  };
  const renames = [
    'SET LOCAL synchronous_commit = on',
    ...(older ? [rename(older.name, retired), writeMark(retired, { ...older.mark, tool: 'new' })] : []),
    rename(database, names.undo),
  ];
  await createKeeper(server, { database, destination }).catch(async (error) => {
    await dropAfterFailure(context, { url, names: [database] });
    throw error;
  });
  try {
    await verifyLock(server, destination);
    await replaceTables(context, { ...replacement, keeper: { database, mark, renames } });
  } catch (error) {
    // The answer to COMMIT may be lost; the name of the keeper tells its outcome.
    if (!(await wasCommitted(context, { url, database, undo: names.undo }))) {
      await dropAfterFailure(context, { url, names: [database] });
      throw error;
    }
  }
  if (older) await dropMarked(server, { name: retired, destination, report });
  await analyzed(context, replacement);
  return { swapMs: null, undoDatabase: names.undo };
}

async function analyzed(
  context: EngineContext,
  { url, tables, tools }: Pick<RowReplacement, 'url' | 'tables' | 'tools'>,
): Promise<void> {
  const options = { url, tools, sessions: 1, settings: { statement_timeout: '0' } };
  await analyzeTablesOf(
    context,
    options,
    tables.map(({ schema, table, root }) => root ?? { schema, table }),
  );
}

/** With the encoding of the destination, so that its rows stay as they are. */
async function createKeeper(
  server: PostgresSession,
  { database, destination }: { database: string; destination: string },
): Promise<void> {
  const [row] = await server.query<{ encoding: string; major: number }>(`
    SELECT pg_encoding_to_char(encoding) AS encoding, current_setting('server_version_num')::int / 10000 AS major
    FROM pg_database WHERE datname = ${quoteText(destination)}`);
  if (!row) throw new Error('the destination is gone');
  const locale = { encoding: row.encoding, collate: 'C', ctype: 'C', provider: 'c', icu_locale: null };
  await createDatabase(server, { name: database, locale, major: row.major });
  // Only this role has rights on its tables.
  await markNew(server, database, { of: destination, admits: 'public' });
}

async function wasCommitted(
  context: EngineContext,
  { url, database, undo }: { url: DatabaseUrl; database: string; undo: string },
): Promise<boolean> {
  try {
    await using server = await connectToServer({ ...context, signal: AbortSignal.timeout(ANSWER_TIMEOUT) }, url);
    return !(await databaseExists(server, database)) && (await databaseExists(server, undo));
  } catch {
    return false;
  }
}

/** Milliseconds. */
const ANSWER_TIMEOUT = 20_000;
