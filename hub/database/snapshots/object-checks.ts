import { sql } from 'kysely';
import { HUB, recordEvent } from '../audit.ts';
import type { Connection, Database } from '../database.ts';
import type { RowOf } from '../tables.ts';
import { LINKED } from './objects.ts';

// Reports of damaged objects, and what a check of them found.

/** `damaged`: the next push sends it again. `checking`: ask again. `not_checked`: the hub could not, or too many wait. */
export type ReportAnswer = 'damaged' | 'checking' | 'intact' | 'not_checked';

export interface DamageReport {
  /** Decides once more, in the transaction. */
  permit?: (db: Connection) => Promise<unknown>;
  targetId: string;
  snapshotPk: number;
  sha256s: string[];
  /** An object that was checked since is not checked again. */
  since: Date;
  /** Objects of the target that may wait for a check; further ones are not checked. */
  mostWaiting: number;
}

/** Notes reported objects of a snapshot for a check. */
export async function reportObjects(db: Database, report: DamageReport): Promise<Map<string, ReportAnswer>> {
  const { permit, targetId, snapshotPk, sha256s, since, mostWaiting } = report;
  return db.transaction().execute(async (transaction) => {
    await permit?.(transaction);
    const rows = await transaction
      .selectFrom('objects')
      .select(['id', 'sha256', 'state', 'verified_at', 'reported_at', 'checked_at'])
      .where('id', 'in', (eb) => eb.selectFrom(LINKED).select('object_id').where('snapshot_pk', '=', snapshotPk))
      .where('sha256', 'in', sha256s)
      .orderBy('id')
      .forUpdate()
      .execute();
    let room = Math.max(0, mostWaiting - (await waitingOf(transaction, targetId)));
    const noted: number[] = [];
    const answers = new Map<string, ReportAnswer>();
    for (const { id, sha256, state, verified_at, reported_at, checked_at } of rows) {
      if (state !== 'stored') answers.set(sha256, 'damaged');
      else if (reported_at !== null) answers.set(sha256, 'checking');
      else if (checked_at !== null && checked_at >= since) {
        answers.set(sha256, verified_at !== null && verified_at >= checked_at ? 'intact' : 'not_checked');
      } else if (room > 0) {
        room -= 1;
        noted.push(id);
        answers.set(sha256, 'checking');
      } else answers.set(sha256, 'not_checked');
    }
    if (noted.length > 0) {
      const reported_at = new Date();
      await transaction.updateTable('objects').set({ reported_at }).where('id', 'in', noted).execute();
    }
    return answers;
  });
}

async function waitingOf(db: Connection, targetId: string): Promise<number> {
  const { waiting } = await db
    .selectFrom('objects')
    .select((eb) => eb.fn.countAll<number>().as('waiting'))
    .where('target_id', '=', targetId)
    .where('reported_at', 'is not', null)
    .executeTakeFirstOrThrow();
  return waiting;
}

const REPORTED = ['id', 'sha256', 'target_id', 'profile_id', 'stored_by'] as const;

export type ReportedObject = Pick<RowOf<'objects'>, (typeof REPORTED)[number]>;

export interface CheckTurn {
  /** Objects that are not wanted again. */
  except: number[];
  /** Targets that had their turn: they come after all others. */
  served: string[];
}

/** The object that waits the longest, of a target whose turn it is; `null` when there is none. */
export async function nextReported(db: Database, { except, served }: CheckTurn): Promise<ReportedObject | null> {
  const row = await db
    .selectFrom('objects')
    .select(REPORTED)
    .where('reported_at', 'is not', null)
    .where(sql<boolean>`id <> ALL(${except}::bigint[])`)
    .orderBy(sql`target_id = ANY(${served}::uuid[])`)
    .orderBy('reported_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** Ends a check that found no damage; `isIntact` is false where the object was too large to be read. */
export async function markChecked(db: Database, id: number, { isIntact }: { isIntact: boolean }): Promise<void> {
  const now = new Date();
  await db
    .updateTable('objects')
    .set({ reported_at: null, checked_at: now, ...(isIntact && { verified_at: now }) })
    .where('id', '=', id)
    .execute();
}

/**
 * Marks an object that differs from its name, or that the bucket lacks, so that the next push sends it again. `remove`
 * removes it from the bucket, under a lock on the row: no upload of it is accepted meanwhile. Returns `false` when
 * `remove` finds another object than the one that was checked; the report then stays.
 */
export async function markDamaged(
  db: Database,
  { id, sha256, target_id }: ReportedObject,
  remove: () => Promise<boolean>,
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const row = await transaction
      .selectFrom('objects')
      .innerJoin('targets', 'targets.id', 'objects.target_id')
      .select(['state', 'targets.name'])
      .where('objects.id', '=', id)
      .where('objects.target_id', '=', target_id)
      .forUpdate('objects')
      .executeTakeFirst();
    if (!row) return true;
    const isStored = row.state === 'stored';
    if (isStored && !(await remove())) return false;
    await transaction
      .updateTable('objects')
      .set({
        ...{ reported_at: null, checked_at: new Date() },
        ...(isStored && { state: 'expected' as const, verified_at: null, touched_at: new Date() }),
      })
      .where('id', '=', id)
      .execute();
    if (isStored) {
      await recordEvent(transaction, { by: HUB, action: 'object.damaged', target: row.name, object: sha256 });
    }
    return true;
  });
}
