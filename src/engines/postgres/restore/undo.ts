import { performance } from 'node:perf_hooks';
import { EXIT, UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl, EngineContext, Kept, Replaced } from '../../engine.ts';
import { connectToServer } from '../connection/connect.ts';
import { type PsqlSession, quoteText } from '../connection/session.ts';
import { type MarkedDatabase, writeComment, writeMark } from '../mark.ts';
import { besideNames, findBeside, lockDestination, verifyLock } from '../server/server.ts';
import { checkSwap } from './blockers.ts';
import { inspectDestination } from './preflight.ts';
import { readComment, rename, renameAll } from './swap.ts';
import { openSwapSession } from './swap-session.ts';

/** The database that the last load into the destination has replaced; rejects when none is kept. */
export async function findKept(context: EngineContext, url: DatabaseUrl): Promise<Kept> {
  const { destination } = await inspectDestination(context, url);
  await using server = await connectToServer(context, url);
  const name = url.database ?? '';
  const { undo: kept } = await findBeside(server, name);
  if (!kept) throw nothingKept(url);
  const [row] = await server.query<{ bytes: number }>(
    `SELECT pg_database_size(oid) AS bytes FROM pg_database WHERE datname = ${quoteText(kept.name)}`,
  );
  return { undoDatabase: kept.name, replacedAt: kept.mark.replaced_at, sizeBytes: row?.bytes ?? 0, destination };
}

/** Swaps the destination with what is kept for it, so that undoing twice is as doing nothing. */
export async function undo(context: EngineContext, url: DatabaseUrl): Promise<Replaced> {
  const { report, clock } = context;
  const destination = url.database ?? '';
  const names = besideNames(destination);
  await using server = await openSwapSession(context, url);
  await lockDestination(server, destination);
  const { undo: kept } = await findBeside(server, destination);
  if (!kept) throw nothingKept(url);
  await checkSwap(server, { destination, undo: true });
  const swapped = startStep(report, 'swap', `Restore the previous ${destination}`);
  const replaced_at = clock().toISOString();
  const renames = await renamesOf(server, { destination, kept, aside: names.fresh(), replaced_at });
  const started = performance.now();
  await verifyLock(server, destination);
  await renameAll(context, { server, url, renames, databases: [destination, names.undo] });
  const swapMs = Math.round(performance.now() - started);
  swapped(`Restored the previous ${destination}`);
  return { swapMs, undoDatabase: names.undo };
}

interface UndoSwap {
  destination: string;
  kept: MarkedDatabase;
  aside: string;
  replaced_at: string;
}

async function renamesOf(server: PsqlSession, { destination, kept, aside, replaced_at }: UndoSwap): Promise<string[]> {
  const present = await readComment(server, destination);
  const back = [rename(kept.name, destination), writeComment(destination, kept.mark.comment)];
  if (!present) return back;
  const mark = { tool: 'undo', of: destination, replaced_at, comment: present.comment } as const;
  return [rename(destination, aside), ...back, rename(aside, kept.name), writeMark(kept.name, mark)];
}

function nothingKept(url: DatabaseUrl): UserError {
  return new UserError(`No previous version of ${url.display} to restore`, {
    code: 'nothing_to_undo',
    exit: EXIT.failed,
    hint: 'The last load replaced nothing, ran in place, or ran with --no-undo.',
  });
}
