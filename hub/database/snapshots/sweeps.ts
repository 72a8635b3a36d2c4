import { type RawBuilder, sql } from 'kysely';
import { type Database, withLock } from '../database.ts';
import { isIn, type ObjectPlace } from './objects.ts';

// Queries of the sweep, and its lock. `touched_at` and `deleted_at` are compared with the time of the caller.

export interface SweptTarget {
  id: string;
  name: string;
  removed: boolean;
}

const MOST_TARGETS = 200;

/** Targets that were not swept since `before`, the longest ago first. A removed target is swept while it has objects. */
export async function targetsToSweep(db: Database, before: Date): Promise<SweptTarget[]> {
  return targetsWhere(
    db,
    sql<boolean>`(sweeps.swept_at IS NULL OR sweeps.swept_at < ${before}) AND (targets.removed_at IS NULL
      OR EXISTS (SELECT 1 FROM objects WHERE objects.target_id = targets.id))`,
  )
    .orderBy(sql`sweeps.swept_at NULLS FIRST`)
    .limit(MOST_TARGETS)
    .execute();
}

/** Every target, removed ones included. */
export function allTargets(db: Database): Promise<SweptTarget[]> {
  return targetsWhere(db, sql<boolean>`true`).orderBy('targets.name').execute();
}

function targetsWhere(db: Database, condition: RawBuilder<boolean>) {
  return db
    .selectFrom('targets')
    .leftJoin('sweeps', 'sweeps.target_id', 'targets.id')
    .select(['targets.id', 'targets.name', sql<boolean>`targets.removed_at IS NOT NULL`.as('removed')])
    .where(condition);
}

export async function isSweptSince(db: Database, targetId: string, since: Date): Promise<boolean> {
  const row = await db
    .selectFrom('sweeps')
    .select('target_id')
    .where('target_id', '=', targetId)
    .where('swept_at', '>=', since)
    .executeTakeFirst();
  return row !== undefined;
}

export async function recordSweep(db: Database, targetId: string, swept_at: Date): Promise<void> {
  await db
    .insertInto('sweeps')
    .values({ target_id: targetId, swept_at })
    .onConflict((on) => on.column('target_id').doUpdateSet({ swept_at }))
    .execute();
}

/** Keys of the program's advisory locks in the database. */
const SWEEP_LOCK = 7_301;
const CHECK_LOCK = 7_302;

/**
 * Runs `work` while no other instance sweeps this target; `false` when one does, or with `wait` after it. The server
 * releases the lock of an instance that was killed.
 */
export function withSweepLock(
  db: Database,
  { targetId, wait = false }: { targetId: string; wait?: boolean },
  work: () => Promise<void>,
): Promise<boolean> {
  return withLock(db, { key: sql`${SWEEP_LOCK}, hashtext(${targetId})`, wait }, work);
}

/** Runs `work` while no other instance checks this object; `false` when one does. */
export function withCheckLock(db: Database, objectId: number, work: () => Promise<void>): Promise<boolean> {
  return withLock(db, { key: sql`${CHECK_LOCK}, hashtext(${String(objectId)})`, wait: false }, work);
}

/** Storage profiles in which a target has, or may have, objects or snapshots. */
export async function profilesOf(db: Database, targetId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`SELECT p.id FROM storage_profiles p
    WHERE EXISTS (SELECT 1 FROM targets t WHERE t.id = ${targetId} AND t.removed_at IS NULL
        AND p.id IN (t.original_profile_id, t.sanitized_profile_id))
      OR EXISTS (SELECT 1 FROM objects o WHERE o.target_id = ${targetId} AND o.profile_id = p.id)
      OR EXISTS (SELECT 1 FROM snapshots s WHERE s.target_id = ${targetId} AND s.profile_id = p.id)
    ORDER BY p.id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Objects that one statement looks at: it ends in time for a target with millions, too. */
const WINDOW = 20_000;
const MOST_MARKED = 500;

/**
 * Marks objects without a snapshot that were not touched since `before`, in transactions of at most 500; how many. Of an
 * object that is marked no request makes use, and publish and sweep lock the same rows.
 */
export async function markUnreferenced(db: Database, place: ObjectPlace, before: Date): Promise<number> {
  let marked = 0;
  let after = '';
  while (true) {
    const last = await endOfWindow(db, place, after);
    while (true) {
      const found = await markSome(db, place, { before, after, last });
      marked += found.marked;
      if (found.locked < MOST_MARKED) break;
    }
    if (last === null) return marked;
    after = last;
  }
}

async function endOfWindow(db: Database, place: ObjectPlace, after: string): Promise<string | null> {
  const row = await db
    .selectFrom('objects')
    .select('sha256')
    .where(isIn(place))
    .where('sha256', '>', after)
    .orderBy('sha256')
    .offset(WINDOW - 1)
    .limit(1)
    .executeTakeFirst();
  return row?.sha256 ?? null;
}

/** The condition on `objects o` that neither a snapshot nor an image has the object. */
const UNLINKED = sql<boolean>`NOT EXISTS (SELECT 1 FROM snapshot_objects l WHERE l.object_id = o.id)
  AND NOT EXISTS (SELECT 1 FROM image_objects l WHERE l.object_id = o.id)`;

interface Window {
  before: Date;
  after: string;
  /** `null`: to the end. */
  last: string | null;
}

async function markSome(db: Database, place: ObjectPlace, { before, after, last }: Window) {
  return db.transaction().execute(async (transaction) => {
    const locked = await sql<{ id: number }>`SELECT o.id FROM objects o
      WHERE ${isIn(place)}
        AND o.sha256 > ${after} AND (${last}::text IS NULL OR o.sha256 <= ${last})
        AND o.state <> 'removing' AND o.touched_at < ${before} AND ${UNLINKED}
      ORDER BY o.id LIMIT ${MOST_MARKED} FOR UPDATE SKIP LOCKED`.execute(transaction);
    const ids = locked.rows.map(({ id }) => id);
    if (ids.length === 0) return { locked: 0, marked: 0 };
    // A second statement sees the links that were committed while the first one waited.
    const { numAffectedRows = 0n } = await sql`UPDATE objects o SET state = 'removing', deleted_at = NULL
      WHERE o.id = ANY(${ids}::bigint[]) AND ${UNLINKED}`.execute(transaction);
    return { locked: ids.length, marked: Number(numAffectedRows) };
  });
}

/** Deleted one after the other in one transaction, which ends within the timeout of an idle one. */
const DELETED_AT_ONCE = 16;

/**
 * Deletes marked objects from the bucket by `remove`, while their rows are locked: an instance that was suspended deletes
 * nothing that others have removed and sent again since. `false` when none is left.
 */
export async function deleteMarked(
  db: Database,
  place: ObjectPlace,
  { now, remove }: { now: Date; remove: (sha256s: string[]) => Promise<void> },
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const rows = await transaction
      .selectFrom('objects')
      .select(['id', 'sha256'])
      .where(isIn(place))
      .where('state', '=', 'removing')
      .where('deleted_at', 'is', null)
      .orderBy('id')
      .limit(DELETED_AT_ONCE)
      .forUpdate()
      .skipLocked()
      .execute();
    if (rows.length === 0) return false;
    await remove(rows.map(({ sha256 }) => sha256));
    const ids = rows.map(({ id }) => id);
    await transaction.updateTable('objects').set({ deleted_at: now }).where('id', 'in', ids).execute();
    return true;
  });
}

/**
 * Removes the rows of objects that the bucket deleted before `before`: a deletion that it executes late then finds no
 * object that was sent again. A row that a snapshot has waits for the next push instead: an instance ended while it
 * removed an upload that differs.
 */
export async function removeDeletedRows(db: Database, before: Date): Promise<void> {
  const deleted = sql<boolean>`o.state = 'removing' AND o.deleted_at < ${before}`;
  await sql`UPDATE objects o SET state = 'expected', deleted_at = NULL WHERE ${deleted} AND NOT (${UNLINKED})`.execute(
    db,
  );
  await db.deleteFrom('objects as o').where(deleted).execute();
}
