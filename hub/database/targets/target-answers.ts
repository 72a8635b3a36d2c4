import { type RawBuilder, sql } from 'kysely';
import type { Fingerprints, TargetSettings } from '../../../src/cloud/contract/resources.ts';
import type { Permission } from '../../../src/cloud/contract/schemas.ts';
import { createBatches } from '../../lists/shared-work.ts';
import { type Caller, permissionsOn } from '../../permissions/access.ts';
import type { HubKey } from '../../settings/parse-values.ts';
import type { Connection, Database } from '../database.ts';
import { type Page, type PageQuery, pageOf } from '../paging.ts';
import { fingerprintsOf } from '../secrets.ts';
import { removableSnapshots } from '../snapshots/keep-policy.ts';
import { lateAfter } from './late.ts';
import type { TargetRow } from './targets.ts';
import { isVisible } from './visible-targets.ts';

export interface SnapshotCounts {
  snapshots: number;
  last_snapshot_at: Date | null;
  /** Sanitized ones alone. */
  sanitized_snapshots: number;
  last_sanitized_at: Date | null;
}

export type CountedTarget = TargetRow & SnapshotCounts;

/** Joins each target with its snapshots; the caller selects its columns: one scan of an index for all of them, and one for the sanitized ones. */
export function countedTargets(db: Connection) {
  const counted = (condition: RawBuilder<unknown>) =>
    sql<{
      count: number;
      newest: Date | null;
    }>`LATERAL (SELECT count(*) AS count, max(created_at) AS newest FROM snapshots s
      WHERE s.target_id = targets.id AND s.removed_at IS NULL AND ${condition})`;
  return db
    .selectFrom('targets')
    .innerJoin(counted(sql`true`).as('all_snapshots'), (join) => join.onTrue())
    .innerJoin(counted(sql`s.sanitized`).as('sanitized'), (join) => join.onTrue())
    .select(['all_snapshots.count as snapshots', 'all_snapshots.newest as last_snapshot_at'])
    .select(['sanitized.count as sanitized_snapshots', 'sanitized.newest as last_sanitized_at']);
}

/** Without `applied`, which may have a megabyte. */
const LISTED = [
  ...(['id', 'name', 'settings', 'reader_groups', 'original_groups', 'builder_groups'] as const),
  ...(['expected_every', 'restore_expected_every', 'revision'] as const),
  ...(['restored_at', 'restored_snapshot', 'restored_sanitized'] as const),
] as const;

type ListedTarget = Pick<TargetRow, (typeof LISTED)[number]> & SnapshotCounts;

/** Queries for lists that run at once: one that is slow delays no other. */
const LISTS_AT_ONCE = 3;

export type LoadTargets = (ids: string[]) => Promise<Map<string, ListedTarget>>;

/** Loads targets for all callers that ask at the same moment by one query. */
export function createTargetLoader(db: Database): LoadTargets {
  return createBatches(LISTS_AT_ONCE, async (ids) => {
    const rows = await countedTargets(db)
      .select(LISTED.map((column) => `targets.${column}` as const))
      .where(sql<boolean>`targets.id = ANY(${ids}::uuid[]) AND targets.removed_at IS NULL`)
      .execute();
    return new Map(rows.map((row) => [row.id, row]));
  });
}

/** Lists the targets that the caller may read, and the time until which nothing but a write changes the page. */
export async function listTargets(
  db: Database,
  caller: Caller,
  { q, load, now, ...paging }: PageQuery & { q?: string | undefined; load: LoadTargets; now: Date },
): Promise<{ page: Page<TargetItem>; validUntil: number }> {
  let base = db.selectFrom('targets').select(['id', 'name']).where(isVisible(caller));
  if (q !== undefined) base = base.where(sql<boolean>`position(lower(${q}) in lower(targets.name)) > 0`);
  const { items, next_cursor } = await pageOf(base, paging, { table: 'targets', by: { name: 'text' } });
  const loaded = await load(items.map(({ id }) => id));
  const rows = items.flatMap(({ id }) => loaded.get(id) ?? []);
  const found = rows.map((row) => targetItem(row, { caller, now }));
  // Its groups may have changed since the first query.
  const page = { items: found.filter(({ permissions }) => permissions.includes('read')), next_cursor };
  const ends = rows.flatMap((row) => Object.values(lateAfter(seenWith(row, permissionsOn(row, caller)))));
  return { page, validUntil: Math.min(...ends.filter((time) => time >= now.getTime())) };
}

export async function targetAnswer(
  db: Database,
  target: TargetRow,
  { caller, now, keys }: { caller: Caller; now: Date; keys: HubKey[] },
) {
  const counted = await countedTargets(db)
    .selectAll('targets')
    .where('targets.id', '=', target.id)
    .executeTakeFirstOrThrow();
  const mayChange = permissionsOn(target, caller).includes('change');
  const secrets = mayChange ? await fingerprintsOf(db, { owner: 'target', owner_id: target.id }, keys) : {};
  return answerWith(db, { ...target, ...counted }, { caller, now, secrets });
}

/** Leaves out the parts that the caller may not see. */
export async function answerWith(
  db: Connection,
  target: CountedTarget,
  { caller, now, secrets }: { caller: Caller; now: Date; secrets: Fingerprints },
) {
  const item = targetItem(target, { caller, now });
  const { original_groups, builder_groups, trusted_keys, expected_every, schedule, pool, keep, applied } = target;
  if (!item.permissions.includes('change')) return { ...item, ...HIDDEN };
  return {
    ...{ ...item, original_groups, builder_groups, trusted_keys, expected_every, schedule, pool, keep },
    restore_expected_every: target.restore_expected_every,
    webhook: target.webhook_url === null ? null : { url: target.webhook_url },
    next_removals: await nextRemovals(db, target),
    ...{ secrets, applied },
  };
}

const HIDDEN = {
  ...{ original_groups: [], builder_groups: [], trusted_keys: null, expected_every: null, schedule: null, pool: null },
  ...{ restore_expected_every: null, webhook: null, keep: null, next_removals: [], secrets: {}, applied: null },
};

/** Ids of the snapshots that the keep policy removes at the next publication. */
async function nextRemovals(db: Connection, { id, keep, snapshots }: CountedTarget): Promise<string[]> {
  if (!keep || snapshots === 0) return [];
  const removable = await removableSnapshots(db, [{ id, keep }]);
  return (removable.get(id) ?? []).map((snapshot) => snapshot.id);
}

type TargetItem = ReturnType<typeof targetItem>;

function targetItem(target: ListedTarget, { caller, now }: { caller: Caller; now: Date }) {
  const { id, name, revision, settings } = target;
  const permissions = permissionsOn(target, caller);
  const [snapshots, newest] = permissions.includes('read_originals')
    ? [target.snapshots, target.last_snapshot_at]
    : [target.sanitized_snapshots, target.last_sanitized_at];
  const seen = seenWith(target, permissions);
  const { snapshot, restore } = lateAfter(seen);
  return {
    ...{ id, name, revision, permissions, snapshots },
    settings: permissions.includes('read_source') ? settings : forReaders(settings),
    last_snapshot_at: newest?.toISOString() ?? null,
    late: snapshot < now.getTime(),
    last_restore: seen.restored_at && { at: seen.restored_at.toISOString(), snapshot: seen.restored_snapshot },
    restore_late: restore < now.getTime(),
    storage_profiles: shownProfiles(settings, permissions),
  };
}

/** The target as if it had no originals, for a caller who may neither read nor push them: nothing hints at one. */
function seenWith(target: ListedTarget, permissions: Permission[]): ListedTarget {
  if (knowsOriginals(permissions)) return target;
  const seen = { ...target, last_snapshot_at: target.last_sanitized_at };
  return target.restored_sanitized ? seen : { ...seen, restored_at: null };
}

function knowsOriginals(permissions: Permission[]): boolean {
  return permissions.includes('read_originals') || permissions.includes('push');
}

/** Names alone: a client compares them with those of its file. */
function shownProfiles({ storage_profile, sanitize }: TargetSettings, permissions: Permission[]) {
  return {
    originals: knowsOriginals(permissions) ? (storage_profile ?? null) : null,
    sanitized: sanitize?.storage_profile ?? storage_profile ?? null,
  };
}

/** Nothing of the source, of queries, or of who else may read. */
function forReaders({ name, snapshot }: Record<string, unknown>): Record<string, unknown> {
  return {
    ...(name !== undefined && { name }),
    ...(snapshot !== undefined && { snapshot: { src_url: null, dst_url: null } }),
  };
}
