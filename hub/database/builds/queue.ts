import { CompiledQuery, sql } from 'kysely';
import { type ConnectionOptions, PgBoss, type QueueOptions } from 'pg-boss';
import { DEFAULT_POOL, type Schedule } from '../../../src/cloud/contract/builds.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import type { Log } from '../../log.ts';
import { Problem } from '../../problem.ts';
import { type Connection, JOB, openPool, QUEUE_SCHEMA } from '../database.ts';

/** Seconds. A test has shorter ones. */
export interface QueueTimes {
  /** Interval between searches for lost leases. */
  supervise: number;
  /** Interval between evaluations of the schedules. */
  cron: number;
  /** Before the first repetition of a notification; doubled for each further one. */
  notifyAgain: number;
}

const QUEUE_TIMES: QueueTimes = { supervise: 15, cron: 30, notifyAgain: 10 };

/** Without a heartbeat for so many seconds a build is given to another agent. */
const LEASE = 60;

/** An agent that is lost, and so many more, end a build. */
const LOST_AGENTS = 3;

/** The longest that pg-boss allows. */
const LONGEST_BUILD = 86_400;

export const LOST_BUILDS = 'lost-builds';
export const NOTIFICATIONS = 'notifications';

export const BUILDS: QueueOptions & { policy: 'exclusive'; deadLetter: string } = {
  policy: 'exclusive',
  heartbeatSeconds: LEASE,
  expireInSeconds: LONGEST_BUILD,
  retryLimit: LOST_AGENTS,
  deadLetter: LOST_BUILDS,
};

type QueueDatabase = NonNullable<ConnectionOptions['db']>;

export interface BuildJob {
  target_id: string;
}

/** The queue of builds and notifications: pg-boss in the database of the hub. */
export interface Queue extends AsyncDisposable {
  boss: PgBoss;
  times: QueueTimes;
}

export interface QueueTarget {
  id: string;
  pool: string | null;
  schedule: Schedule | null;
}

export function queueOf(pool: string | null): string {
  return `build/${pool ?? DEFAULT_POOL}`;
}

/** pg-boss in a transaction of the hub. */
export function inTransaction(db: Connection): QueueDatabase {
  return {
    async executeSql(text, values = []) {
      const { rows } = await db.executeQuery(CompiledQuery.raw(text, values));
      return { rows: [...rows] };
    },
  };
}

const CONNECTIONS = 3;
const STATEMENT_TIMEOUT = 30_000;

/** Creates or updates the schema of pg-boss. Requires the role that owns the database. */
export async function migrateQueue(url: string): Promise<void> {
  const pool = openPool(url, { connections: 1, statementTimeout: 3_600_000, name: 'tool hub queue' });
  const boss = new PgBoss({ ...bossOptions((text, values) => pool.query(text, values)), migrate: true });
  let failure: Error | null = null;
  boss.on('error', (error) => {
    failure = error;
  });
  try {
    await boss.start();
    // Indexes of an update are built one by one.
    while ((await boss.getBamStatus()).some(({ status }) => status === 'pending' || status === 'in_progress')) {
      if (failure !== null) throw failure;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  } catch (cause) {
    throw new UserError('hub_migration_failed', 'Cannot migrate the queue of the hub', {
      details: [(cause as Error).message],
      hint: 'Fix the cause, then run: tool hub migrate',
      cause,
    });
  } finally {
    await boss.stop({ graceful: false }).catch(() => {});
    await pool.end();
  }
}

function bossOptions(executeSql: QueueDatabase['executeSql']) {
  return {
    schema: QUEUE_SCHEMA,
    db: { executeSql },
    migrate: false,
    supervise: false,
    schedule: false,
    registerInstance: false,
    // Rights that serve does not have.
    reindex: false,
    monitorVacuum: false,
    openTelemetry: { enabled: false },
  } as const;
}

/** Starts schedules, the watch over leases, and the queues that every hub has. */
export async function startQueue(
  url: string,
  { log, times = QUEUE_TIMES }: { log: Log; times?: QueueTimes | undefined },
): Promise<Queue> {
  const pool = openPool(url, {
    connections: CONNECTIONS,
    statementTimeout: STATEMENT_TIMEOUT,
    name: 'tool hub queue',
  });
  const boss = new PgBoss({
    ...bossOptions((text, values) => pool.query(text, values)),
    supervise: true,
    schedule: true,
    superviseIntervalSeconds: times.supervise,
    monitorIntervalSeconds: times.supervise,
    cronMonitorIntervalSeconds: times.cron,
    cronWorkerIntervalSeconds: Math.min(times.cron, 5),
  });
  boss.on('error', (error) => log.error('The queue failed', { reason: error.message.slice(0, 500) }));
  boss.on('warning', ({ message }) => log.error('The queue warns', { reason: message.slice(0, 500) }));
  const end = async (): Promise<void> => {
    await boss.stop({ graceful: true, timeout: 10_000 });
    await pool.end();
  };
  try {
    await boss.start();
    await boss.createQueue(LOST_BUILDS, { retryLimit: 10, retryDelay: 10 });
    // Whatever pools members add, most targets have this one.
    await boss.createQueue(queueOf(DEFAULT_POOL), BUILDS);
    await boss.createQueue(NOTIFICATIONS, {
      retryLimit: 5,
      retryDelay: times.notifyAgain,
      retryBackoff: true,
      retryDelayMax: 600,
      expireInSeconds: 60,
    });
  } catch (cause) {
    await end().catch(() => {});
    throw new UserError('hub_not_migrated', 'The queue of the hub cannot be used', {
      details: [(cause as Error).message],
      hint: 'Run: tool hub migrate',
      cause,
    });
  }
  return { boss, times, [Symbol.asyncDispose]: end };
}

/** Refuses a schedule without a next time. */
export function assertHasNextTime({ boss }: Queue, { cron, timezone }: Schedule): void {
  try {
    boss.previewSchedule(cron, { tz: timezone, count: 1 });
  } catch {
    throw new Problem('cloud_refused', `The schedule "${cron}" has no next time`, {
      errors: [{ pointer: '/schedule/cron', detail: 'must have a next time' }],
    });
  }
}

/** One build of a target at a time. */
function buildOptions(targetId: string) {
  return { singletonKey: targetId, group: { id: targetId } };
}

/** Queues a build in the pool of its target; `null` when one is queued or running there. In a transaction of the caller. */
export function sendBuild(
  db: Connection,
  { boss }: Pick<Queue, 'boss'>,
  { target: { id: target_id, pool }, id }: { target: Pick<QueueTarget, 'id' | 'pool'>; id?: string },
): Promise<string | null> {
  const data: BuildJob = { target_id };
  const options = { ...buildOptions(target_id), ...(id !== undefined && { id }), db: inTransaction(db) };
  return boss.send(queueOf(pool), data, options);
}

/** Queues a build anew under its id, in the pool that its target has now; cancelled where that pool has another one. */
export async function queueAgain(
  db: Connection,
  { boss }: Pick<Queue, 'boss'>,
  { name, id, target }: { name: string; id: string; target: Pick<QueueTarget, 'id' | 'pool'> },
): Promise<void> {
  const options = { db: inTransaction(db) };
  const isMoved = name !== queueOf(target.pool);
  if (!isMoved) await boss.deleteJob(name, id, options);
  const sent = await sendBuild(db, { boss }, { target, id });
  if (isMoved && sent === null) await boss.cancel(name, id, options);
  else if (isMoved) await boss.deleteJob(name, id, options);
}

/** Brings the schedule of a target up to date; in the transaction that changes the target. */
export async function applySchedule(
  db: Connection,
  { boss }: Queue,
  { before, after }: { before: QueueTarget | null; after: QueueTarget | null },
): Promise<void> {
  const options = { db: inTransaction(db) };
  const moved = before !== null && (after === null || queueOf(before.pool) !== queueOf(after.pool));
  if (before?.schedule && (moved || after?.schedule == null))
    await boss.unschedule(queueOf(before.pool), before.id, options);
  if (moved) {
    const name = queueOf(before.pool);
    for (const { id } of await boss.findJobs(name, { key: before.id, queued: true, ...options })) {
      if (after === null) await boss.cancel(name, id, options);
      else await queueAgain(db, { boss }, { name, id, target: after });
    }
  }
  if (!after?.schedule) return;
  const { cron, timezone } = after.schedule;
  const data: BuildJob = { target_id: after.id };
  await boss.schedule(queueOf(after.pool), cron, data, {
    ...buildOptions(after.id),
    ...{ tz: timezone, key: after.id, missed: 'once' },
    ...options,
  });
}

/** Queue and state of a job; `null` when pg-boss has none. */
export async function findJob(db: Connection, id: string) {
  const { rows } = await sql<{
    name: string;
    state: 'created' | 'retry' | 'active' | 'completed' | 'cancelled' | 'failed';
    target_id: string;
    created_on: Date;
    completed_on: Date | null;
  }>`SELECT j.name, j.state, j.data->>'target_id' AS target_id, j.created_on, j.completed_on
    FROM ${sql.id(QUEUE_SCHEMA, 'queue')} q JOIN ${JOB} j ON j.name = q.name AND j.id = ${id}
    WHERE q.name LIKE ${`${queueOf('')}%`}`.execute(db);
  return rows[0] ?? null;
}
