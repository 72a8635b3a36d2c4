import { sql } from 'kysely';
import type { Keep, Removal } from '../../../src/cloud/contract/keep-policy.ts';
import { familyOf, type KeepPolicy, keptBy, type PolicyCandidate } from '../../../src/repository/keep-policy.ts';
import { parseDuration } from '../../../src/text/duration.ts';
import type { AuditEvent } from '../audit.ts';
import type { Connection, Database } from '../database.ts';
import { lockTarget } from '../targets/targets.ts';

/** Most snapshots that one publication removes, the oldest first; the next publication removes more. */
const MOST_REMOVED = 10_000;

interface Candidate extends PolicyCandidate {
  pk: number;
  targetId: string;
  sanitized: boolean;
  /** The time that the builder states. */
  claimed_at: Date;
}

export interface TargetPolicy {
  id: string;
  keep: Keep;
}

/** Snapshots that the policy of each target does not keep, newest first, by the id of the target. */
export async function removableSnapshots(db: Connection, targets: TargetPolicy[]): Promise<Map<string, Removal[]>> {
  if (targets.length === 0) return new Map();
  const ids = targets.map(({ id }) => id);
  const { rows, now } = await candidatesOf(db, ids);
  const removals = ({ id, keep }: TargetPolicy): Removal[] =>
    removableOf(rows.get(id) ?? [], keep, now).map(({ id: snapshot, claimed_at, sanitized }) => ({
      ...{ id: snapshot, created_at: claimed_at.toISOString(), sanitized },
    }));
  return new Map(targets.map((target) => [target.id, removals(target)]));
}

/**
 * Marks the snapshots of a target that its policy does not keep as removed, in one transaction with their events, which
 * have the actor and address of the publication. Returns their ids.
 */
export async function applyKeepPolicy(
  db: Database,
  { targetId, published, event }: { targetId: string; published: string; event: Omit<AuditEvent, 'action' | 'object'> },
): Promise<string[]> {
  return db.transaction().execute(async (transaction) => {
    // Two instances take turns; publications, which reference the row, need not wait.
    const target = await lockTarget(transaction, targetId, 'turn');
    if (!target?.keep) return [];
    const { rows, now } = await candidatesOf(transaction, [targetId]);
    const all = rows.get(targetId) ?? [];
    const own = all.find(({ id }) => id === published);
    const removable = removableOf(all, target.keep, now).filter((row) => !own || familyOf(row) !== familyOf(own));
    if (removable.length === 0) return [];
    const removed = await transaction
      .updateTable('snapshots')
      .set({ removed_at: sql`now()` })
      .where(sql<boolean>`pk = ANY(${removable.map(({ pk }) => pk)}::bigint[])`)
      .where('removed_at', 'is', null)
      // Pinned since they were selected.
      .where(sql<boolean>`NOT coalesce((headline->>'pinned')::boolean, false)`)
      .returning('id')
      .execute();
    const ids = removed.map(({ id }) => id);
    const { by, target: name = null, address = null } = event;
    await sql`INSERT INTO audit_events (actor, subject, issuer, action, target, object, outcome, address)
      SELECT ${by.name}, ${by.subject}, ${by.issuer}, ${REMOVED_BY_POLICY}, ${name}, unnest(${ids}::text[]), 'done',
        ${address}`.execute(transaction);
    return ids;
  });
}

const REMOVED_BY_POLICY = 'snapshot.remove_by_keep_policy';

async function candidatesOf(
  db: Connection,
  targetIds: string[],
): Promise<{ rows: Map<string, Candidate[]>; now: Date }> {
  // A creation time after the publication is a wrong clock of the builder, or a claim: the publication counts.
  const { rows } = await sql<
    Record<'now' | 'claimed_at' | 'counted_at', Date> & Omit<Candidate, 'created_at'> & { sanitized_of: string | null }
  >`
    SELECT pk, target_id AS "targetId", id, sanitized, headline->>'sanitized_of' AS sanitized_of, coalesce((headline->>'pinned')::boolean, false) AS pinned,
      created_at AS claimed_at,
      least(created_at, published_at) AS counted_at, clock_timestamp() AS now
    FROM snapshots
    WHERE target_id = ANY(${targetIds}::uuid[]) AND removed_at IS NULL AND published_at <= clock_timestamp()
    ORDER BY counted_at DESC, pk DESC`.execute(db);
  const candidates = rows.map(({ now: _, counted_at, sanitized_of, ...row }) => ({
    ...row,
    ...(sanitized_of !== null && { sanitized_of }),
    created_at: counted_at.toISOString(),
  }));
  return { rows: Map.groupBy(candidates, ({ targetId }) => targetId), now: rows[0]?.now ?? new Date() };
}

/** Never the newest snapshot, nor the newest sanitized one, which readers have. */
function removableOf(rows: Candidate[], keep: Keep, now: Date): Candidate[] {
  const kept = keptBy(policyOf(keep), rows, now);
  const newest = [rows[0], rows.find(({ sanitized }) => sanitized)].flatMap((row) => (row ? [familyOf(row)] : []));
  const removable = rows.filter((row) => !kept.has(row) && !newest.includes(familyOf(row)));
  return removable.slice(-MOST_REMOVED);
}

function policyOf({ within, ...counts }: Keep): KeepPolicy {
  return { ...counts, ...(within !== undefined && { within: parseDuration(within) ?? 0 }) };
}
