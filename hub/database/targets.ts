import type { Selectable } from 'kysely';
import { Problem } from '../problem.ts';
import { type Condition, changedMeanwhile } from './condition.ts';
import type { Connection } from './database.ts';
import { removeSecrets } from './secrets.ts';
import type { Tables } from './tables.ts';

export const TARGET_COLUMNS = [
  'id',
  'name',
  'settings',
  'applied',
  'original_profile_id',
  'sanitized_profile_id',
  'reader_groups',
  'original_groups',
  'builder_groups',
  'trusted_keys',
  'expected_every',
  'schedule',
  'pool',
  'webhook_url',
  'webhook_private',
  'keep',
  'revision',
] as const;

export type TargetRow = Pick<Selectable<Tables['targets']>, (typeof TARGET_COLUMNS)[number]>;

export async function findTarget(db: Connection, name: string): Promise<TargetRow | null> {
  const row = await db
    .selectFrom('targets')
    .select(TARGET_COLUMNS)
    .where('name', '=', name)
    .where('removed_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * The target as it is now. Neither it nor its groups change until the transaction ends: every change locks the row for
 * update first. `change` also excludes others that share the lock.
 */
export async function lockTarget(db: Connection, id: string, lock: 'share' | 'change'): Promise<TargetRow | null> {
  const query = db.selectFrom('targets').select(TARGET_COLUMNS).where('id', '=', id).where('removed_at', 'is', null);
  const row = await (lock === 'share' ? query.forKeyShare() : query.forUpdate()).executeTakeFirst();
  return row ?? null;
}

/** The target that has the name, or else the last one that had it, locked for a change. */
export async function lockName(
  db: Connection,
  name: string,
): Promise<{ holder: TargetRow | null; target: TargetRow | null }> {
  const row = await db
    .selectFrom('targets')
    .select([...TARGET_COLUMNS, 'removed_at'])
    .where('name', '=', name)
    .orderBy('removed_at', (order) => order.desc().nullsFirst())
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
  if (!row) return { holder: null, target: null };
  const { removed_at, ...holder } = row;
  return { holder, target: removed_at === null ? holder : null };
}

export function findTargets(db: Connection, names: string[]): Promise<TargetRow[]> {
  return db
    .selectFrom('targets')
    .select(TARGET_COLUMNS)
    .where('name', 'in', names)
    .where('removed_at', 'is', null)
    .execute();
}

/** Removes a target that the transaction has locked for a change; one with snapshots stays. */
export async function removeTarget(db: Connection, target: TargetRow, condition: Condition): Promise<void> {
  if ('create' in condition || target.revision !== condition.revision) throw changedMeanwhile(target.name, condition);
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
