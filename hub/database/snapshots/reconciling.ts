import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { isIn, type ObjectPlace, type ObjectRow } from './objects.ts';

// Queries of the comparison with the bucket.

const ROWS_AT_ONCE = 10_000;

export type ComparedObject = Pick<ObjectRow, 'id' | 'sha256' | 'stored_bytes' | 'state'>;

/** Every object that the database has of a target in one bucket. */
export async function* objectsIn(db: Database, place: ObjectPlace): AsyncGenerator<ComparedObject> {
  let after = '';
  while (true) {
    const rows = await db
      .selectFrom('objects')
      .select(['id', 'sha256', 'stored_bytes', 'state'])
      .where(isIn(place))
      .where('sha256', '>', after)
      .orderBy('sha256')
      .limit(ROWS_AT_ONCE)
      .execute();
    yield* rows;
    after = rows.at(-1)?.sha256 ?? '';
    if (rows.length < ROWS_AT_ONCE) return;
  }
}

/**
 * Records that the bucket lacks an object, so that the next push sends it again; its snapshots are offered no more. `look`
 * returns what the bucket has, under a lock on the row.
 */
export async function markObjectMissing(
  db: Database,
  { id, stored_bytes }: ComparedObject,
  inspect: () => Promise<number | null>,
): Promise<{ missing: boolean; snapshots: string[] }> {
  return db.transaction().execute(async (transaction) => {
    const row = await transaction
      .selectFrom('objects')
      .select('id')
      .where('id', '=', id)
      .where('state', '=', 'stored')
      .forUpdate()
      .executeTakeFirst();
    if (!row || (await inspect()) === stored_bytes) return { missing: false, snapshots: [] };
    await transaction.updateTable('objects').set({ state: 'expected' }).where('id', '=', id).execute();
    const { rows } = await sql<{ id: string }>`UPDATE snapshots SET removed_at = now(), missing_at = now()
      WHERE removed_at IS NULL AND pk IN (SELECT snapshot_pk FROM snapshot_objects WHERE object_id = ${id})
      RETURNING id`.execute(transaction);
    return { missing: true, snapshots: rows.map((snapshot) => snapshot.id) };
  });
}

export interface ComparedSnapshot {
  pk: number;
  id: string;
  manifest_key: string;
  missing: boolean;
}

/** Snapshots that are offered, or that the bucket lacked; without those that are being removed. */
export function snapshotsIn(db: Database, place: ObjectPlace): Promise<ComparedSnapshot[]> {
  return db
    .selectFrom('snapshots')
    .select(['pk', 'id', 'manifest_key', sql<boolean>`missing_at IS NOT NULL`.as('missing')])
    .where(isIn(place))
    .where((eb) => eb.or([eb('removed_at', 'is', null), eb('missing_at', 'is not', null)]))
    .orderBy('created_at')
    .execute();
}

export async function markSnapshotMissing(db: Database, pk: number): Promise<void> {
  const now = new Date();
  await db
    .updateTable('snapshots')
    .set({ removed_at: now, missing_at: now })
    .where('pk', '=', pk)
    .where('removed_at', 'is', null)
    .execute();
}

/** Objects of a snapshot that are not stored, as far as the database knows. */
export function unstoredObjects(db: Database, pk: number): Promise<Pick<ObjectRow, 'sha256' | 'stored_bytes'>[]> {
  return db
    .selectFrom('snapshot_objects')
    .innerJoin('objects', 'objects.id', 'snapshot_objects.object_id')
    .select(['objects.sha256', 'objects.stored_bytes'])
    .where('snapshot_objects.snapshot_pk', '=', pk)
    .where('objects.state', '!=', 'stored')
    .execute();
}
