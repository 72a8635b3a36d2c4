import { UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { UndoCopy } from '../../facets/restore.ts';
import { lastSwitch, leaveStatements } from '../branches/last-switch.ts';
import { connectToServer } from '../connection/connect.ts';
import { quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { inspectDestination } from '../restore/inspect-destination.ts';
import { undoRows } from '../restore/only-rows/undo-rows.ts';
import { auxiliaryNames, findAuxiliaryDatabases, lockDestination, readOid } from '../server/server.ts';
import { checkSwap } from './blockers.ts';
import { assertRowsOf, isCopyOf, type MarkedDatabase, type UndoRows, writeComment } from './mark.ts';
import { readComment, rename, renameAll, toUndoCopy } from './swap.ts';
import { openSwapSession } from './swap-session.ts';

/** The database that the last load, reset or switch has replaced; rejects when none is kept. */
export async function findUndoCopy(context: EngineContext, url: DatabaseUrl): Promise<UndoCopy> {
  const { destination } = await inspectDestination(context, url);
  await using server = await connectToServer(context, url);
  const { name, replacedAt, rows, undoCopy } = await findReplaced(server, url);
  const { base } = await findAuxiliaryDatabases(server, url.database ?? '');
  const keepsCopies = base !== null && !rows && isCopyOf(base.mark, await readOid(server, name));
  const tables = rows && { tables: rows.tables.map((table) => table.name) };
  const retires = undoCopy?.readable && !undoCopy.mark.rows && (await factsOf(server, undoCopy));
  return {
    ...{ undoDatabase: name, replacedAt, sizeBytes: await sizeOf(server, name), destination },
    ...tables,
    ...(keepsCopies && { keepsCopies }),
    ...(retires && { retires }),
  };
}

async function factsOf(server: PostgresSession, { name, mark }: MarkedDatabase): Promise<UndoCopy['retires']> {
  return { undoDatabase: name, replacedAt: mark.replaced_at, sizeBytes: await sizeOf(server, name) };
}

async function sizeOf(server: PostgresSession, name: string): Promise<number> {
  const [row] = await server.query<{ bytes: number }>(
    `SELECT pg_database_size(oid) AS bytes FROM pg_database WHERE datname = ${quoteText(name)}`,
  );
  return row?.bytes ?? 0;
}

/**
 * Swaps the destination with what is kept for it, so that undoing twice is as doing nothing. A branch that the
 * destination was switched to gets its own name again. An undo copy of rows only gives these back, and is replaced by the
 * present ones.
 */
export async function undo(context: EngineContext, { url, directory }: { url: DatabaseUrl; directory: string }) {
  const { report } = context;
  const destination = url.database ?? '';
  await using server = await openSwapSession(context, url);
  await lockDestination(server, destination);
  const { name, replacedAt, renames, undoDatabase, rows } = await findReplaced(server, url);
  if (rows) {
    await server.close();
    return await undoRows(context, { url, directory, undoCopy: name, replacedAt, rows });
  }
  await checkSwap(server, { destination, undo: true });
  const swapped = startStep(report, 'swap', `Restore the previous ${destination}`);
  const databases = [destination, name];
  const { swapMs } = await renameAll(context, { server, url, renames: await renames(context.clock()), databases });
  swapped(`Restored the previous ${destination}`);
  return { swapMs, undoDatabase };
}

interface ReplacedDatabase {
  name: string;
  replacedAt: string;
  renames: (now: Date) => Promise<string[]>;
  /** The undo copy afterwards. */
  undoDatabase: string | null;
  /** It has these rows only. */
  rows?: UndoRows | undefined;
  /** Present after a switch as well. */
  undoCopy: MarkedDatabase | null;
}

async function findReplaced(server: PostgresSession, url: DatabaseUrl): Promise<ReplacedDatabase> {
  const destination = url.database ?? '';
  const { undo: marked } = await findAuxiliaryDatabases(server, destination);
  const undoCopy = marked?.own ? marked : null;
  const reverted = await lastSwitch(server, destination, { undo: undoCopy });
  if (reverted) {
    const { mark, before } = reverted;
    const back = [rename(before.database, destination), writeComment(destination, before.comment)];
    const renames = async () => [...leaveStatements(destination, mark), ...back];
    const replacedAt = mark.branch.switched_at ?? '';
    return { name: before.database, replacedAt, renames, undoDatabase: null, undoCopy };
  }
  if (!undoCopy) throw nothingToUndo(url, marked);
  // Views and rows in a copy that another role has made would be read, and tables written, with the rights of this role.
  if (undoCopy.mark.rows && !undoCopy.readable) throw nothingToUndo(url, undoCopy);
  if (undoCopy.mark.rows) assertRowsOf(url, undoCopy.mark, await readOid(server, destination));
  const { undo, shadow } = auxiliaryNames(destination);
  const renames = (now: Date) => renamesOf(server, { destination, undoCopy, aside: shadow(), replacedAt: now });
  const { replaced_at: replacedAt, rows } = undoCopy.mark;
  return { name: undoCopy.name, replacedAt, renames, undoDatabase: undo, rows, undoCopy };
}

interface UndoSwap {
  destination: string;
  undoCopy: MarkedDatabase;
  aside: string;
  replacedAt: Date;
}

async function renamesOf(server: PostgresSession, { destination, undoCopy, aside, replacedAt }: UndoSwap) {
  const present = await readComment(server, destination);
  const back = [rename(undoCopy.name, destination), writeComment(destination, undoCopy.mark.comment)];
  if (!present) return back;
  const { comment } = present;
  return [rename(destination, aside), ...back, ...toUndoCopy(destination, { from: aside, replacedAt, comment })];
}

function nothingToUndo(url: DatabaseUrl, foreign: MarkedDatabase | null): UserError {
  return new UserError('nothing_to_undo', `No previous version of ${url.display} to restore`, {
    details: foreign ? [`${foreign.name} belongs to another role`] : [],
    hint: 'The last load replaced nothing, ran in place, or ran with --no-undo.',
  });
}
