import { sql } from 'kysely';
import type { Caller } from '../../permissions/access.ts';
import { Problem } from '../../problem.ts';
import { type AuditEvent, recordEvent } from '../audit.ts';
import { type Connection, QUEUE_SCHEMA } from '../database.ts';
import { BUILDS, type Queue, queueOf } from './queue.ts';

/** Pools of a hub, and those that one member may add: pools stay. */
const MOST_POOLS = 100;
const MOST_OF_MEMBER = 10;

const CREATED = 'pool.create';

interface PoolRequest {
  pool: string;
  caller: Caller;
  event: Omit<AuditEvent, 'action'>;
}

/** Creates the queue of a new pool, with its event; refuses one too many. In a transaction of the caller. */
export async function ensurePool(db: Connection, { boss }: Queue, { pool, caller, event }: PoolRequest): Promise<void> {
  const { rows } = await sql<{ name: string }>`SELECT name FROM ${sql.id(QUEUE_SCHEMA, 'queue')}
    WHERE name LIKE ${`${queueOf('')}%`}`.execute(db);
  if (rows.some(({ name }) => name === queueOf(pool))) return;
  if (rows.length >= MOST_POOLS) throw tooMany(`The hub has ${MOST_POOLS} pools already`);
  if (caller.role !== 'owner' && (await countOf(db, caller)) >= MOST_OF_MEMBER) {
    throw tooMany(`You have added ${MOST_OF_MEMBER} pools already`, 'An owner may add more.');
  }
  await recordEvent(db, { ...event, action: CREATED, object: pool });
  await boss.createQueue(queueOf(pool), BUILDS);
}

async function countOf(db: Connection, { subject, issuer }: Caller): Promise<number> {
  const { count } = await db
    .selectFrom('audit_events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('action', '=', sql.lit(CREATED))
    .where('subject', '=', subject)
    .where('issuer', 'is not distinct from', issuer)
    .executeTakeFirstOrThrow();
  return count;
}

function tooMany(detail: string, hint?: string): Problem {
  const errors = [{ pointer: '/pool', detail: 'must be one of the pools of the hub' }];
  return new Problem('cloud_refused', detail, { errors, ...(hint !== undefined && { hint }) });
}
