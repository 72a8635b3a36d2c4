import type { AuditEvent } from '../src/cloud/contract/schemas.ts';
import type { listEvents } from './database/audit.ts';

export type AuditRow = Awaited<ReturnType<typeof listEvents>>['items'][number];

/** An event as it is sent: its time as text, and nothing of its key. */
export function eventAnswer(event: AuditRow): AuditEvent {
  const { at, actor, action, target, object, outcome, address, subject, issuer } = event;
  return { at: at.toISOString(), actor, action, target, object, outcome, address, subject, issuer };
}
