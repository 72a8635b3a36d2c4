import { sql } from 'kysely';
import type { Build, FinishBody } from '../../../src/cloud/contract/builds.ts';
import { ROUTES } from '../../../src/cloud/contract/routes.ts';
import { type Caller, decide, type Subject } from '../../permissions/access.ts';
import { Problem } from '../../problem.ts';
import { recordEvent } from '../audit.ts';
import { type Connection, type Database, JOB } from '../database.ts';
import { lockTarget, type TargetRow, targetWithId } from '../targets/targets.ts';
import {
  type BuildJob,
  findJob,
  inTransaction,
  NOTIFICATIONS,
  type Queue,
  queueAgain,
  queueOf,
  sendBuild,
} from './queue.ts';
import { moveStray, type StrayBuild } from './stray-builds.ts';

// Builds are jobs of pg-boss; a row of `builds` is one claim of a job, by an agent.

/** Requests a build, or finds the one that is queued or running. In a transaction of the caller. */
export async function requestBuild(
  db: Connection,
  queue: Queue,
  target: TargetRow,
): Promise<{ id: string; created: boolean }> {
  const id = await sendBuild(db, queue, { target });
  if (id !== null) return { id, created: true };
  const { rows } = await sql<{ id: string }>`SELECT id FROM ${JOB}
    WHERE name = ${queueOf(target.pool)} AND singleton_key = ${target.id} AND state <= 'active' LIMIT 1`.execute(db);
  const [running] = rows;
  if (running) return { id: running.id, created: false };
  throw new Problem('cloud_unavailable', 'A build has just ended', { headers: { 'retry-after': '1' } });
}

export interface ClaimRequest {
  caller: Caller;
  /** For the audit. */
  address: string | null;
  pool: string;
  /** Targets that the agent has, and the caller may build. */
  targetIds: string[];
}

export interface Claim {
  id: string;
  lease: string;
  target: string;
}

/** The job belongs to another agent, or its target has changed: it stays in the queue. */
class NotTaken extends Error {}

const MOST_IGNORED = 10_000;

/** Takes a due build of one of the targets; `null` when there is none. */
export async function claimBuild(db: Database, queue: Queue, claiming: ClaimRequest): Promise<Claim | null> {
  const { caller, address, pool, targetIds } = claiming;
  const name = queueOf(pool);
  const due = sql`name = ${name} AND state < 'active' AND start_after <= now()`;
  const mine = sql`singleton_key = ANY(${targetIds}::text[])`;
  const { rows } = await sql<StrayBuild>`SELECT id, name, singleton_key
    FROM ${JOB} WHERE ${mine} AND state < 'active' AND start_after <= now() AND name LIKE ${`${queueOf('')}%`}
    LIMIT ${MOST_STRAYS}`.execute(db);
  for (const job of rows) if (job.name !== name) await moveStray(db, queue, job);
  if (rows.length === 0) return null;
  try {
    return await db.transaction().execute(async (transaction) => {
      const others = await sql<{ group_id: string }>`SELECT DISTINCT group_id FROM ${JOB}
        WHERE ${due} AND group_id IS NOT NULL AND NOT ${mine} LIMIT ${MOST_IGNORED}`.execute(transaction);
      const ignoreGroups = others.rows.map(({ group_id }) => group_id);
      const fetched = { db: inTransaction(transaction), ignoreGroups };
      const [job] = await queue.boss.fetch<BuildJob>(name, fetched);
      if (!job) return null;
      // One that was sent after the list of the others.
      if (!targetIds.includes(job.data.target_id)) throw new NotTaken();
      const target = await lockClaimed(transaction, { id: job.data.target_id, queue: name, caller });
      if (target === null) throw new NotTaken();
      const { lease } = await transaction
        .insertInto('builds')
        .values({
          ...{ job_id: job.id, retry_count: job.retryCount, pool, target_id: job.data.target_id },
          ...{ caller_id: caller.id, actor: caller.name },
        })
        .returning('lease')
        .executeTakeFirstOrThrow();
      const event = { by: caller, action: 'build.claim', target, object: job.id, address };
      await recordEvent(transaction, event);
      return { id: job.id, lease, target };
    });
  } catch (error) {
    if (error instanceof NotTaken) return null;
    throw error;
  }
}

/** Builds that one claim moves at most; the next claim moves the others. */
const MOST_STRAYS = 100;

/**
 * The name of a target that the caller may still build, and that no agent of another pool builds: its pool may have been
 * changed. Two claims of a target take turns; what shares the row goes on.
 */
async function lockClaimed(
  db: Connection,
  { id, queue, caller }: { id: string; queue: string; caller: Caller },
): Promise<string | null> {
  const found = await lockTarget(db, id, 'turn');
  if (!found || queueOf(found.pool) !== queue) return null;
  if (decide(ROUTES.claimBuild.access, caller, { target: found }) !== 'permitted') return null;
  const { rows } = await sql`SELECT 1 FROM ${JOB}
    WHERE singleton_key = ${id} AND state = 'active' AND name <> ${queue} AND name LIKE ${`${queueOf('')}%`}
    LIMIT 1`.execute(db);
  return rows.length === 0 ? found.name : null;
}

interface ClaimReference {
  id: string;
  lease: string;
  caller: Caller;
}

/** Keeps a build; refused when another agent has it. */
export async function keepBuild(db: Database, { boss }: Queue, claimed: ClaimReference): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const { job_id: id, retry_count: retryCount, pool, outcome } = await lockClaim(transaction, claimed);
    const touched = await boss.touch(queueOf(pool), { id, retryCount }, { db: inTransaction(transaction) });
    if (affectedBy(touched) === 0 || outcome !== null) throw leaseLost();
  });
}

/** pg-boss returns it without declaring its type. */
function affectedBy(response: object): number {
  return (response as { affected: number }).affected;
}

export interface FinishResult {
  target: string;
  targetId: string;
  actor: string;
  /** The same was said before. */
  repeated: boolean;
}

/** Ends a build. In a transaction of the caller. */
export async function finishBuild(
  db: Connection,
  { boss }: Queue,
  { body, ...claimed }: ClaimReference & { body: FinishBody },
): Promise<FinishResult> {
  const row = await lockClaim(db, claimed);
  const { job_id: id, retry_count: retryCount, pool, target_id: targetId, target, actor } = row;
  const finished = { target, targetId, actor, repeated: row.outcome === body.outcome };
  if (finished.repeated) return finished;
  if (row.outcome !== null) throw leaseLost();
  const [name, options] = [queueOf(pool), { db: inTransaction(db) }];
  if (affectedBy(await boss.touch(name, { id, retryCount }, options)) === 0) throw leaseLost();
  switch (body.outcome) {
    case 'done':
      await assertNothingMissing(db, targetId, body.snapshot);
      await boss.complete(name, id, { snapshot: body.snapshot }, options);
      break;
    // `fail` would repeat the build at once; its next time is that of its schedule.
    case 'failed':
      await boss.complete(name, id, { code: body.code }, options);
      break;
    // The job begins anew, as if it had not been claimed.
    case 'released':
      await queueAgain(db, { boss }, { name, id, target: { id: targetId, pool: row.target_pool } });
      break;
    default:
      body satisfies never;
  }
  const { code, message, snapshot } = { code: null, message: null, snapshot: null, ...body };
  await db
    .updateTable('builds')
    .set({ outcome: body.outcome, ended_at: new Date(), code, message, snapshot })
    .where('lease', '=', claimed.lease)
    .execute();
  return finished;
}

async function assertNothingMissing(db: Connection, targetId: string, snapshot: string): Promise<void> {
  const found = await db
    .selectFrom('snapshots')
    .select('id')
    .where('target_id', '=', targetId)
    .where('id', '=', snapshot)
    .executeTakeFirst();
  if (found) return;
  throw new Problem('cloud_refused', `The target has no snapshot ${snapshot}`, {
    errors: [{ pointer: '/snapshot', detail: 'must be a published snapshot of the target' }],
  });
}

/** A claim of the caller, who may still build the target. In a transaction of the caller, which locks both. */
async function lockClaim(db: Connection, { id, lease, caller }: ClaimReference) {
  const row = await db
    .selectFrom('builds')
    .innerJoin('targets', 'targets.id', 'builds.target_id')
    .select(['job_id', 'retry_count', 'builds.pool', 'target_id', 'actor', 'outcome', 'targets.name as target'])
    .select(['caller_id', 'targets.id', 'targets.pool as target_pool'])
    .select(['reader_groups', 'original_groups', 'builder_groups'])
    .where('lease', '=', lease)
    .where('job_id', '=', id)
    .where('targets.removed_at', 'is', null)
    .forUpdate('builds')
    .forKeyShare('targets')
    .executeTakeFirst();
  const subject = { target: row ?? null, ...(row && { claimedBy: row.caller_id }) };
  if (row && decide(ROUTES.finishBuild.access, caller, subject) === 'permitted') return row;
  throw unknownBuild();
}

export function unknownBuild(): Problem {
  return new Problem('cloud_unknown', 'There is no such build, or you may not build its target');
}

function leaseLost(): Problem {
  return new Problem('cloud_conflict', 'The build has ended, or was given to another agent');
}

/** Finds the parts of a build that permissions depend on: its target, and whether this caller has ever claimed it. */
export async function findBuildSubject(
  db: Connection,
  id: string,
  callerId: string,
): Promise<Subject & { target: TargetRow | null }> {
  const job = await findJob(db, id);
  const target = job && (await targetWithId(db, job.target_id).executeTakeFirst());
  const claims = db.selectFrom('builds').select('lease').where('job_id', '=', id).where('caller_id', '=', callerId);
  const claim = target && (await claims.limit(1).executeTakeFirst());
  return { target: target ?? null, ...(claim && { claimedBy: callerId }) };
}

/** Returns a build of a target that the caller may build. */
export async function describeBuild(db: Connection, id: string): Promise<Build> {
  const job = await findJob(db, id);
  const target = job && (await targetWithId(db, job.target_id).executeTakeFirst());
  if (!target) throw unknownBuild();
  const last = await db
    .selectFrom('builds')
    .selectAll()
    .where('job_id', '=', id)
    .orderBy('claimed_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  const isQueued = job.state === 'created' || job.state === 'retry';
  const isDone = job.state === 'completed' && last?.outcome === 'done';
  const isEnded = !isQueued && job.state !== 'active';
  const state = isQueued ? 'queued' : job.state === 'active' ? 'running' : isDone ? 'done' : 'failed';
  return {
    ...{ id, target: target.name, state },
    requested_at: job.created_on.toISOString(),
    started_at: isQueued ? null : (last?.claimed_at.toISOString() ?? null),
    ended_at: isEnded ? (job.completed_on?.toISOString() ?? null) : null,
    agent: isQueued ? null : (last?.actor ?? null),
    snapshot: isDone ? (last?.snapshot ?? null) : null,
    error: isEnded && !isDone ? errorOf(job.state, last) : null,
  };
}

export const LOST = { code: 'build_lost', message: 'The agents that began the build were lost' };

function errorOf(state: string, last: { code: string | null; message: string | null } | undefined) {
  if (state === 'cancelled')
    return { code: 'build_cancelled', message: 'The target moved to a pool that has another build of it' };
  return state === 'failed' ? LOST : { code: last?.code ?? '', message: last?.message ?? '' };
}

/** An event of a target that is sent as a notification. */
export type Notice =
  | {
      event: 'target.late';
      target_id: string;
      target: string;
      expected_every: string;
      newest_snapshot_at: string | null;
    }
  | {
      event: 'target.restore_late';
      target_id: string;
      target: string;
      restore_expected_every: string;
      last_restored_at: string | null;
    }
  | { event: 'build.failed'; target_id: string; target: string; agent: string | null; code: string; message: string };

/** Queues a notification, in the transaction that causes it. */
export async function notify(db: Connection, { boss }: Queue, notice: Notice): Promise<void> {
  await boss.send(NOTIFICATIONS, notice, { db: inTransaction(db) });
}

const KEPT_DAYS = 90;

export async function removeOldBuilds(db: Database): Promise<void> {
  await sql`DELETE FROM builds WHERE claimed_at < now() - make_interval(days => ${KEPT_DAYS})`.execute(db);
}
