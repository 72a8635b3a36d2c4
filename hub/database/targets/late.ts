import { type RawBuilder, sql } from 'kysely';
import type { Connection, Database } from '../database.ts';

const newestSnapshot = sql<Date | null>`(SELECT s.created_at FROM snapshots s
  WHERE s.target_id = targets.id AND s.removed_at IS NULL ORDER BY s.created_at DESC LIMIT 1)`;

/** A target without any snapshot is late, too. */
export function isLate(now: Date): RawBuilder<boolean> {
  return isLateSince(now, newestSnapshot);
}

function isLateSince(now: Date, newest: RawBuilder<Date | null>): RawBuilder<boolean> {
  return sql<boolean>`(targets.expected_every IS NOT NULL
    AND coalesce(${newest} < ${now}::timestamptz - make_interval(secs => extract(epoch FROM targets.expected_every::interval)), true))`;
}

const HOUR = 3_600_000;

/** Milliseconds of the units of `expected_every`; as in the query, a day has 24 hours in every time zone. */
const UNITS: Record<string, number> = { h: HOUR, d: 24 * HOUR, w: 168 * HOUR };

/** Milliseconds since the epoch after which a target is late, as `isLate` finds it. */
export function lateAfter({
  expected_every,
  last_snapshot_at,
}: {
  expected_every: string | null;
  last_snapshot_at: Date | null;
}): number {
  if (expected_every === null) return Number.POSITIVE_INFINITY;
  if (last_snapshot_at === null) return Number.NEGATIVE_INFINITY;
  return last_snapshot_at.getTime() + Number.parseInt(expected_every, 10) * (UNITS[expected_every.slice(-1)] ?? 0);
}

/** Extends `isLate`: a target without a snapshot has as long for its first one as for the next ones. */
function isDue(now: Date): RawBuilder<boolean> {
  return isLateSince(now, sql<Date | null>`coalesce(${newestSnapshot}, targets.expected_since)`);
}

export interface LateTarget {
  id: string;
  name: string;
  expected_every: string;
  newest_at: Date | null;
}

/** Late targets that one query returns at most; the next one continues. */
const MOST_LATE = 500;

/** Targets that have become late, each once for all instances: the row is marked. In a transaction of the caller. */
export async function takeNewlyLate(db: Connection, now: Date): Promise<LateTarget[]> {
  const found = await sql<LateTarget>`UPDATE targets SET late_since = ${now}
    WHERE id IN (SELECT id FROM targets WHERE removed_at IS NULL AND late_since IS NULL AND ${isDue(now)}
      ORDER BY id LIMIT ${MOST_LATE} FOR UPDATE SKIP LOCKED)
    RETURNING id, name, expected_every, ${newestSnapshot} AS newest_at`.execute(db);
  return found.rows;
}

/** A target that is on time again is notified when it becomes late the next time. */
export async function forgetOnTime(db: Database, now: Date): Promise<void> {
  await sql`UPDATE targets SET late_since = NULL WHERE late_since IS NOT NULL AND NOT ${isDue(now)}`.execute(db);
}

/** Names of late targets, for the metrics. */
export async function lateTargets(db: Database, { now, limit }: { now: Date; limit: number }): Promise<string[]> {
  const rows = await db
    .selectFrom('targets')
    .select('name')
    .where('removed_at', 'is', null)
    .where(isLate(now))
    .orderBy('name')
    .limit(limit)
    .execute();
  return rows.map(({ name }) => name);
}
