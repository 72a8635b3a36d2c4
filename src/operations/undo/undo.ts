import type { Database } from '../../engines/open-database.ts';
import type { LoadResult, UndoPlan } from '../../results/load-results.ts';
import type { Context } from '../../runtime/context.ts';
import { recorded } from '../history/recorded.ts';
import { toDatabaseCopies } from '../load/copies-result.ts';
import { checkDestination, chooseDestination, openDestination } from '../load/destination.ts';
import { assertNotASource } from '../load/guard/guard.ts';
import { type Planned, planOutdated } from '../planned.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { statingOutcome } from '../stating-outcome.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';

export interface UndoRequest {
  target: string;
  /** Connection URL that wins over every configured destination. */
  destdb?: string;
}

export type PlannedUndo = Planned<UndoRequest, UndoPlan>;

/** Plans to restore the undo copy. Throws `nothing_to_undo` when there is none. */
export async function planUndo(given: Context, request: UndoRequest): Promise<PlannedUndo> {
  const context = await withTargetUrls(given, request.target, { source: false });
  const database = openDestination(context, chooseDestination(context, request));
  const unverified_sources = await assertNotASource(context, database.url, request);
  const { destination, ...undo } = await findUndo(database);
  const plan: UndoPlan = { target: request.target, destination, ...undo, unverified_sources };
  return { request, plan, planned_at: context.clock().toISOString() };
}

/** Puts back what the last load replaced, the database or the rows of some tables; the present state is kept for the next undo. */
export function applyUndo(given: Context, planned: PlannedUndo): Promise<LoadResult> {
  const { target, destination, replaced_at } = planned.plan;
  return recorded(
    given,
    { operation: 'undo', target, to: destination.url, replaced_at },
    {
      work: () => statingOutcome(given, { target, destination, undo: true }, (context) => perform(context, planned)),
      facts: ({ swap_ms, size_bytes }) => ({ swap_ms, size_bytes }),
    },
  );
}

async function perform(given: Context, planned: PlannedUndo): Promise<LoadResult> {
  const { request, plan } = planned;
  const context = await withTargetUrls(given, request.target, { source: false });
  const database = openDestination(context, chooseDestination({ ...context, report: () => {} }, request));
  const { url } = database;
  await checkDestination(context, planned, url);
  const undo = await findUndo(database);
  if (undo.undo_database !== plan.undo_database || undo.replaced_at !== plan.replaced_at) {
    throw planOutdated(`Another load has replaced ${url.display}`);
  }
  await using staging = await localRepository(context).stage();
  const { swapMs, undoDatabase } = await database.restore.undo({ directory: await staging.folder('undo') });
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

async function findUndo({ restore }: Database) {
  const { destination, undoDatabase, replacedAt, sizeBytes, tables, keepsCopies } = await restore.findUndoCopy();
  const copies = toDatabaseCopies(await restore.findCopies());
  return {
    ...{ destination, undo_database: undoDatabase, replaced_at: replacedAt, size_bytes: sizeBytes },
    ...(tables && { tables }),
    ...(copies && { copies }),
    ...(keepsCopies && { keeps_copies: keepsCopies }),
  };
}
