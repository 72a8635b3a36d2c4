import type { Context } from '../context.ts';
import { engineForUrl } from '../engines/registry.ts';
import { EXIT, UserError } from '../errors.ts';
import { chooseDestination } from './destination.ts';
import { refuseSources } from './guard.ts';
import type { LoadResult, UndoPlan } from './results.ts';

export interface UndoRequest {
  target: string;
  /** Connection URL that wins over every configured destination. */
  destdb?: string;
}

/** A plan to be shown and asked about; `plan` is printable, `apply` does it and is called by `undo`. */
export interface PlannedUndo {
  plan: UndoPlan;
  apply: (context: Context) => Promise<LoadResult>;
}

/** What `undo` would put back. Throws when nothing is kept. */
export async function planUndo(context: Context, request: UndoRequest): Promise<PlannedUndo> {
  const { text } = chooseDestination(context.configuration, request);
  const engine = engineForUrl(text);
  const url = engine.parseUrl(text);
  await refuseSources(context, url);
  const kept = await engine.findKept(context, url);
  if (!kept) {
    throw new UserError(`Nothing is kept that ${url.display} could be put back to`, {
      code: 'nothing_to_undo',
      exit: EXIT.failed,
      hint: 'The last load into it had nothing to replace, ran in place, or was told --no-undo.',
    });
  }
  const { undoDatabase, replacedAt, sizeBytes, destination } = kept;
  return {
    plan: { target: request.target, destination, undo_database: undoDatabase, replaced_at: replacedAt, size_bytes: sizeBytes },
    async apply(running) {
      const { swapMs, undoDatabase: now } = await engine.undo(running, url);
      const nothing = { snapshot: null, tables: 0, rows: 0, size_bytes: sizeBytes };
      return { ...nothing, destination: url.display, swap_ms: swapMs, undo_database: now };
    },
  };
}

/** Puts the database that the last load replaced back; the one that it replaces takes its place for the next undo. */
export async function undo(context: Context, planned: PlannedUndo): Promise<LoadResult> {
  return planned.apply(context);
}
