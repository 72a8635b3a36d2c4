import { sql } from 'kysely';
import type { QueryOf } from '../../src/cloud/contract/routes.ts';
import type { AuditEvent as SentEvent } from '../../src/cloud/contract/schemas.ts';
import type { Connection, Database } from './database.ts';
import { type Page, pageOf } from './paging.ts';
import type { RowOf } from './tables.ts';

/** The author of an event. Names can repeat; issuer and subject together do not. */
export interface Actor {
  name: string;
  subject: string | null;
  /** The provider of the subject. */
  issuer: string | null;
}

/** Actor of an action of the hub itself. */
export const HUB: Actor = { name: 'hub', subject: null, issuer: null };

export interface AuditEvent {
  by: Actor;
  action: string;
  target?: string | null;
  /** The object of the action: a snapshot, a token. */
  object?: string | null;
  outcome?: 'done' | 'refused';
  address?: string | null;
}

export async function recordEvent(db: Connection, event: AuditEvent): Promise<void> {
  await eventInsert(event).execute(db);
}

/** The statement that records an event. */
export function eventInsert(event: AuditEvent) {
  const { by, action, target = null, object = null, outcome = 'done', address = null } = event;
  return sql`INSERT INTO audit_events (actor, subject, issuer, action, target, object, outcome, address)
    VALUES (${by.name}, ${by.subject}, ${by.issuer}, ${action}, ${target}, ${object}, ${outcome}, ${address})`;
}

const HOUR = 3_600_000;

/** One event an hour for the same caller and snapshot: a pull is many requests, and some at the same moment. */
export async function recordDownload(
  db: Database,
  event: AuditEvent & { target: string; object: string },
): Promise<void> {
  if (await isRecent(db, event)) return;
  await db.transaction().execute(async (transaction) => {
    const { by, target, object } = event;
    const what = JSON.stringify([by.issuer, by.subject, target, object]);
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${what}, 0))`.execute(transaction);
    if (!(await isRecent(transaction, event))) await recordEvent(transaction, event);
  });
}

async function isRecent(
  db: Connection,
  { by, action, target, object }: AuditEvent & { target: string; object: string },
): Promise<boolean> {
  const recent = await db
    .selectFrom('audit_events')
    .select('id')
    .where('target', '=', target)
    .where('issuer', 'is not distinct from', by.issuer)
    .where('subject', 'is not distinct from', by.subject)
    .where('action', '=', action)
    .where('object', '=', object)
    .where('at', '>', new Date(Date.now() - HOUR))
    .limit(1)
    .executeTakeFirst();
  return recent !== undefined;
}

export type AuditFilter = QueryOf<'listAuditEvents'> & { outcome?: 'done' | 'refused' };

export type AuditRow = RowOf<'audit_events'>;

/** An event as it is sent: its time as text, and nothing of its key. */
export function eventAnswer({ id: _, at, ...event }: AuditRow): SentEvent {
  return { ...event, at: at.toISOString() };
}

export async function listEvents(db: Database, { since, until, ...filter }: AuditFilter): Promise<Page<AuditRow>> {
  let query = db.selectFrom('audit_events').selectAll();
  if (since !== undefined) query = query.where('at', '>=', new Date(since));
  if (until !== undefined) query = query.where('at', '<', new Date(until));
  for (const key of ['actor', 'subject', 'target', 'action', 'outcome'] as const) {
    const value = filter[key];
    if (value !== undefined) query = query.where(key, '=', value);
  }
  return pageOf(query, filter, { table: 'audit_events', by: { id: 'number' }, descending: true });
}
