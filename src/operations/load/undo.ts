import type { DatabaseUrl, Engine } from '../../engines/engine.ts';
import { engineForUrl } from '../../engines/registry.ts';
import type { LoadResult, UndoPlan } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { chooseDestination } from './destination.ts';
import { refuseSources } from './guard.ts';

export interface UndoRequest {
  target: string;
  /** Connection URL that wins over every configured destination. */
  destdb?: string;
  /** Goes on although sources could not be compared with the destination. */
  unverifiedSources?: boolean | undefined;
}

/** What `undo` would put back. Throws when nothing is kept. */
export async function planUndo(context: Context, request: UndoRequest): Promise<UndoPlan> {
  const { engine, url } = destinationOf(context, request);
  const unverified_sources = await refuseSources(context, url, request);
  const kept = await engine.restore.findKept(context, url);
  const { undoDatabase, replacedAt, sizeBytes, destination } = kept;
  return {
    target: request.target,
    destination,
    undo_database: undoDatabase,
    replaced_at: replacedAt,
    size_bytes: sizeBytes,
    unverified_sources,
  };
}

/**
 * Puts the database that the last load replaced back; the one that it replaces takes its place for the next undo.
 * The request is the one that was planned: a plan holds no passwords.
 */
export async function undo(
  context: Context,
  plan: UndoPlan,
  request: UndoRequest = { target: plan.target },
): Promise<LoadResult> {
  const { engine, url } = destinationOf(context, request);
  const { swapMs, undoDatabase } = await engine.restore.undo(context, url);
  return {
    snapshot: null,
    destination: url.display,
    tables: 0,
    rows: 0,
    size_bytes: plan.size_bytes,
    selection: null,
    swap_ms: swapMs,
    undo_database: undoDatabase,
  };
}

function destinationOf(context: Context, request: UndoRequest): { engine: Engine; url: DatabaseUrl } {
  const { text } = chooseDestination(context, request);
  const engine = engineForUrl(text);
  return { engine, url: engine.connect.parseUrl(text) };
}
