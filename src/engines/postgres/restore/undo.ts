import { performance } from 'node:perf_hooks';
import { EXIT, UserError } from '../../../errors.ts';
import type { DatabaseUrl, EngineContext, Kept, Replaced } from '../../engine.ts';
import { connectToServer } from '../connection/connect.ts';
import { quoteText, type Session } from '../connection/session.ts';
import { besideNames, lockDestination } from '../server.ts';
import { inspectDestination } from './preflight.ts';
import { databaseExists, type KeptMark, mark, rename, renameAll } from './swap.ts';

/** The database that the last load into the destination has replaced; rejects when none is kept. */
export async function findKept(context: EngineContext, url: DatabaseUrl): Promise<Kept> {
  const { destination } = await inspectDestination(context, url);
  await using server = await connectToServer(context, url);
  const name = besideNames(url.database ?? '').undo;
  const [row] = await server.query<{ comment: string | null; bytes: number }>(`
    SELECT shobj_description(oid, 'pg_database') AS comment, pg_database_size(oid) AS bytes
    FROM pg_database WHERE datname = ${quoteText(name)}`);
  if (!row) throw nothingKept(url);
  return {
    undoDatabase: name,
    replacedAt: readMark(row.comment)?.replaced_at ?? '',
    sizeBytes: row.bytes,
    destination,
  };
}

function readMark(comment: string | null): KeptMark | null {
  try {
    return JSON.parse(comment ?? 'null') as KeptMark | null;
  } catch {
    return null;
  }
}

/** Swaps the destination with what is kept for it, so that undoing twice is as doing nothing. */
export async function undo(context: EngineContext, url: DatabaseUrl): Promise<Replaced> {
  const { report, clock } = context;
  const destination = url.database ?? '';
  const names = besideNames(destination);
  await using server = await connectToServer(context, url);
  await lockDestination(server, destination);
  if (!(await databaseExists(server, names.undo))) throw nothingKept(url);
  report({ event: 'step', step: 'swap', state: 'started', label: `Put back what ${destination} was` });
  const started = performance.now();
  await renameAll(context, {
    server,
    url,
    renames: await renames(server, { destination, ...names, at: clock().toISOString() }),
    databases: [destination, names.undo],
  });
  const swapMs = Math.round(performance.now() - started);
  report({ event: 'step', step: 'swap', state: 'done', label: `${destination} is what it was` });
  return { swapMs, undoDatabase: names.undo };
}

interface Exchange {
  destination: string;
  undo: string;
  fresh: () => string;
  at: string;
}

async function renames(server: Session, { destination, undo: kept, fresh, at }: Exchange): Promise<string[]> {
  if (!(await databaseExists(server, destination))) return [rename(kept, destination), unmark(destination)];
  const aside = fresh();
  return [
    rename(destination, aside),
    rename(kept, destination),
    unmark(destination),
    rename(aside, kept),
    mark(kept, { of: destination, replaced_at: at }),
  ];
}

function unmark(database: string): string {
  return `COMMENT ON DATABASE "${database.replaceAll('"', '""')}" IS NULL`;
}

function nothingKept(url: DatabaseUrl): UserError {
  return new UserError(`Nothing is kept that ${url.display} could be put back to`, {
    code: 'nothing_to_undo',
    exit: EXIT.failed,
    hint: 'The last load into it had nothing to replace, ran in place, or was told --no-undo.',
  });
}
