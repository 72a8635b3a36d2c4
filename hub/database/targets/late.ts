import { type RawBuilder, sql } from 'kysely';
import type { Connection, Database } from '../database.ts';

/** Expressions on a target: the longest age of its snapshot or proved restore, the last one, and what is known of a late one. */
const COLUMNS = {
  snapshot: {
    every: sql.ref<string | null>('targets.expected_every'),
    last: sql<Date | null>`(SELECT s.created_at FROM snapshots s
      WHERE s.target_id = targets.id AND s.removed_at IS NULL ORDER BY s.created_at DESC LIMIT 1)`,
    since: sql.ref<Date>('targets.expected_since'),
    notified: sql.ref<Date | null>('late_since'),
  },
  restore: {
    every: sql.ref<string | null>('targets.restore_expected_every'),
    last: sql.ref<Date | null>('targets.restored_at'),
    since: sql.ref<Date>('targets.restore_expected_since'),
    notified: sql.ref<Date | null>('restore_late_since'),
  },
};

export type LatenessKind = keyof typeof COLUMNS;

export const LATENESS_KINDS = Object.keys(COLUMNS) as LatenessKind[];

/** A target without any snapshot, or proved restore, is late, too. */
export function isLate(kind: LatenessKind, now: Date): RawBuilder<boolean> {
  return isLateSince(kind, now, COLUMNS[kind].last);
}

function isLateSince(kind: LatenessKind, now: Date, last: RawBuilder<Date | null>): RawBuilder<boolean> {
  const { every } = COLUMNS[kind];
  return sql<boolean>`(${every} IS NOT NULL
    AND coalesce(${last} < ${now}::timestamptz - make_interval(secs => extract(epoch FROM ${every}::interval)), true))`;
}

const HOUR = 3_600_000;

/** Milliseconds of the units of `expected_every`; as in the query, a day has 24 hours in every time zone. */
const UNITS: Record<string, number> = { h: HOUR, d: 24 * HOUR, w: 168 * HOUR };

interface LatenessFacts {
  expected_every: string | null;
  last_snapshot_at: Date | null;
  restore_expected_every: string | null;
  restored_at: Date | null;
}

/** Milliseconds since the epoch after which a target is late, as `isLate` finds it. */
export function lateAfter(facts: LatenessFacts): Record<LatenessKind, number> {
  return {
    snapshot: endOf(facts.expected_every, facts.last_snapshot_at),
    restore: endOf(facts.restore_expected_every, facts.restored_at),
  };
}

function endOf(every: string | null, last: Date | null): number {
  if (every === null) return Number.POSITIVE_INFINITY;
  if (last === null) return Number.NEGATIVE_INFINITY;
  return last.getTime() + Number.parseInt(every, 10) * (UNITS[every.slice(-1)] ?? 0);
}

/** Extends `isLate`: a target without a snapshot has as long for its first one as for the next ones. */
function isDue(kind: LatenessKind, now: Date): RawBuilder<boolean> {
  const { last, since } = COLUMNS[kind];
  return isLateSince(kind, now, sql<Date | null>`coalesce(${last}, ${since})`);
}

export interface LateTarget {
  id: string;
  name: string;
  every: string;
  last_at: Date | null;
}

/** Late targets that one query returns at most; the next one continues. */
const MOST_LATE = 500;

/** Targets that have become late, each once for all instances: the row is marked. In a transaction of the caller. */
export async function takeNewlyLate(db: Connection, kind: LatenessKind, now: Date): Promise<LateTarget[]> {
  const { every, last, notified } = COLUMNS[kind];
  const found = await sql<LateTarget>`UPDATE targets SET ${notified} = ${now}
    WHERE id IN (SELECT id FROM targets WHERE removed_at IS NULL AND ${notified} IS NULL AND ${isDue(kind, now)}
      ORDER BY id LIMIT ${MOST_LATE} FOR UPDATE SKIP LOCKED)
    RETURNING id, name, ${every} AS every, ${last} AS last_at`.execute(db);
  return found.rows;
}

/** A target that is on time again is notified when it becomes late the next time. */
export async function forgetOnTime(db: Database, kind: LatenessKind, now: Date): Promise<void> {
  const { notified } = COLUMNS[kind];
  await sql`UPDATE targets SET ${notified} = NULL WHERE ${notified} IS NOT NULL AND NOT ${isDue(kind, now)}`.execute(
    db,
  );
}

/** Names of late targets, for the metrics. */
export async function lateTargets(
  db: Database,
  kind: LatenessKind,
  { now, limit }: { now: Date; limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('targets')
    .select('name')
    .where('removed_at', 'is', null)
    .where(isLate(kind, now))
    .orderBy('name')
    .limit(limit)
    .execute();
  return rows.map(({ name }) => name);
}
