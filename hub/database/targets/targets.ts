import { Problem } from '../../problem.ts';
import { assertCondition, type Condition } from '../condition.ts';
import type { Connection } from '../database.ts';
import { removeSecrets } from '../secrets.ts';
import { findSnapshot } from '../snapshots/snapshots.ts';
import type { RowOf } from '../tables.ts';

export type TargetRow = RowOf<'targets'>;

export async function findTarget(db: Connection, name: string): Promise<TargetRow | null> {
  return (await presentTargets(db).where('name', '=', name).executeTakeFirst()) ?? null;
}

export type TargetLock = 'share' | 'turn' | 'change';

/**
 * The target as it is now. Neither it nor its groups change until the transaction ends: every change locks the row for
 * update first. Of those that take a `turn` one goes on; `change` also excludes others that share the lock.
 */
export async function lockTarget(db: Connection, id: string, lock: TargetLock): Promise<TargetRow | null> {
  const query = targetWithId(db, id);
  const locking = { share: query.forKeyShare(), turn: query.forNoKeyUpdate(), change: query.forUpdate() };
  return (await locking[lock].executeTakeFirst()) ?? null;
}

export function targetWithId(db: Connection, id: string) {
  return presentTargets(db).where('id', '=', id);
}

/** The target that has the name, or else the last one that had it, locked for a change. */
export async function lockName(
  db: Connection,
  name: string,
): Promise<{ holder: TargetRow | null; target: TargetRow | null }> {
  const row = await db
    .selectFrom('targets')
    .selectAll()
    .where('name', '=', name)
    .orderBy('removed_at', (order) => order.desc().nullsFirst())
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
  return { holder: row ?? null, target: row?.removed_at === null ? row : null };
}

export function findTargets(db: Connection, names: string[]): Promise<TargetRow[]> {
  return presentTargets(db).where('name', 'in', names).execute();
}

function presentTargets(db: Connection) {
  return db.selectFrom('targets').selectAll().where('removed_at', 'is', null);
}

/** Records that a snapshot of the target, which the transaction has locked, was restored as a proof. */
export async function recordRestore(
  db: Connection,
  target: TargetRow,
  { snapshot: id, at }: { snapshot: string; at: Date },
): Promise<void> {
  const snapshot = await findSnapshot(db, { targetId: target.id, originals: true, id });
  if (!snapshot) throw new Problem('snapshot_unknown', `Target "${target.name}" has no snapshot ${id}`);
  const restored = { restored_at: at, restored_snapshot: id, restored_sanitized: snapshot.sanitized };
  await db.updateTable('targets').set(restored).where('id', '=', target.id).execute();
}

/** Removes a target that the transaction has locked for a change; one with snapshots stays. */
export async function removeTarget(db: Connection, target: TargetRow, condition: Condition): Promise<void> {
  assertCondition(target.name, condition, target);
  const snapshot = await db
    .selectFrom('snapshots')
    .select('id')
    .where('target_id', '=', target.id)
    .where('removed_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  if (snapshot) {
    throw new Problem('cloud_conflict', `Target "${target.name}" has snapshots`, { hint: 'Remove them first.' });
  }
  await removeSecrets(db, { owner: 'target', owner_id: target.id });
  await db.updateTable('targets').set({ removed_at: new Date() }).where('id', '=', target.id).execute();
}
