import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { type Page, type PageQuery, pageOf } from '../paging.ts';
import { removableSnapshots } from '../snapshots/keep-policy.ts';
import { isLate, LATENESS_KINDS, type LatenessKind, lateAfter } from './late.ts';
import { type CountedTarget, countedTargets, type SnapshotCounts } from './target-answers.ts';

const SHOWN = [
  'id',
  'name',
  'reader_groups',
  'original_groups',
  'builder_groups',
  'expected_every',
  'restore_expected_every',
  'restored_at',
  'schedule',
  'keep',
] as const;

export interface OverviewRow extends Pick<CountedTarget, (typeof SHOWN)[number] | keyof SnapshotCounts> {
  late: Record<LatenessKind, boolean>;
  /** Ids of the snapshots that `keep` removes at the next publication. */
  next_removals: string[];
}

export interface OverviewFilter extends PageQuery {
  /** Part of a name. */
  q?: string | undefined;
  /** Late targets only. */
  late?: boolean | undefined;
  now: Date;
}

/** Every target, by name, without access control: for owners and auditors only. */
export async function listOverview(
  db: Database,
  { q, late, now, ...paging }: OverviewFilter,
): Promise<Page<OverviewRow>> {
  let base = countedTargets(db)
    .select(SHOWN.map((column) => `targets.${column}` as const))
    .where('targets.removed_at', 'is', null);
  if (q !== undefined) base = base.where(sql<boolean>`position(lower(${q}) in lower(targets.name)) > 0`);
  if (late) base = base.where((eb) => eb.or(LATENESS_KINDS.map((kind) => isLate(kind, now))));
  const { items, next_cursor } = await pageOf(base, paging, { table: 'targets', by: { name: 'text' } });
  const kept = items.flatMap(({ id, keep }) => (keep ? [{ id, keep }] : []));
  const removable = await removableSnapshots(db, kept);
  const removals = (id: string): string[] => (removable.get(id) ?? []).map((snapshot) => snapshot.id);
  const lateness = (row: (typeof items)[number]): OverviewRow['late'] => {
    const { snapshot, restore } = lateAfter(row);
    return { snapshot: snapshot < now.getTime(), restore: restore < now.getTime() };
  };
  return {
    items: items.map((row) => ({ ...row, late: lateness(row), next_removals: removals(row.id) })),
    next_cursor,
  };
}

/** The number of all targets, and of those that are late, by what is. */
export async function countTargets(db: Database, now: Date): Promise<Record<'targets' | LatenessKind, number>> {
  return db
    .selectFrom('targets')
    .select((eb) => [
      eb.fn.countAll<number>().as('targets'),
      ...LATENESS_KINDS.map((kind) => sql<number>`count(*) FILTER (WHERE ${isLate(kind, now)})`.as(kind)),
    ])
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow();
}
