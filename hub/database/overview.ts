import { sql } from 'kysely';
import type { Schedule } from '../../src/cloud/contract/builds.ts';
import type { Keep, Removal } from '../../src/cloud/contract/retention.ts';
import type { Database } from './database.ts';
import { isLate, newestSnapshot } from './late.ts';
import { type Page, type PageQuery, pageOf } from './paging.ts';
import { removableSnapshots } from './retention.ts';

export interface OverviewRow {
  name: string;
  reader_groups: string[];
  original_groups: string[];
  builder_groups: string[];
  expected_every: string | null;
  schedule: Schedule | null;
  snapshots: number;
  /** Time of the newest snapshot. */
  newest_at: Date | null;
  late: boolean;
  keep: Keep | null;
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
  let base = db
    .selectFrom('targets')
    .select(['name', 'reader_groups', 'original_groups', 'builder_groups', 'expected_every', 'schedule'])
    .select(['id', 'keep'])
    .select([newestSnapshot.as('newest_at'), isLate(now).as('late')])
    .select(
      sql<number>`(SELECT count(*) FROM snapshots s WHERE s.target_id = targets.id AND s.removed_at IS NULL)`.as(
        'snapshots',
      ),
    )
    .where('removed_at', 'is', null)
    .orderBy('name');
  if (q !== undefined) base = base.where(sql<boolean>`position(lower(${q}) in lower(targets.name)) > 0`);
  if (late) base = base.where(isLate(now));
  const { items, next_cursor } = await pageOf<Omit<OverviewRow, 'next_removals'> & { id: string }>(paging, {
    keyOf: ({ name }) => [name],
    rows: (limit, after) => (after ? base.where('name', '>', after[0] ?? '') : base).limit(limit).execute(),
  });
  const kept = items.flatMap(({ id, keep }) => (keep ? [{ id, keep }] : []));
  const removable = kept.length > 0 ? await removableSnapshots(db, kept) : new Map<string, Removal[]>();
  const removals = (id: string): string[] => (removable.get(id) ?? []).map((snapshot) => snapshot.id);
  return { items: items.map(({ id, ...row }) => ({ ...row, next_removals: removals(id) })), next_cursor };
}

export async function countTargets(db: Database, now: Date): Promise<{ targets: number; late: number }> {
  return db
    .selectFrom('targets')
    .select((eb) => [
      eb.fn.countAll<number>().as('targets'),
      sql<number>`count(*) FILTER (WHERE ${isLate(now)})`.as('late'),
    ])
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow();
}
