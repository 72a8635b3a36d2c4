import { listAll } from '../../cloud/client.ts';
import type { AuditEvent } from '../../cloud/contract/schemas.ts';
import type { Context } from '../../runtime/context.ts';
import { openCloud } from './open-cloud.ts';

export interface AuditRequest {
  /** Milliseconds since 1970. */
  since?: number | undefined;
  until?: number | undefined;
  actor?: string | undefined;
  target?: string | undefined;
  action?: string | undefined;
  /** At most so many events; default all. */
  most?: number;
}

interface AuditList {
  events: AuditEvent[];
  /** Older events match, too. */
  more: boolean;
}

/** Audit events of the hub, newest first. */
export async function listAuditEvents(context: Context, request: AuditRequest): Promise<AuditList> {
  const { since, until, most, ...names } = request;
  const client = await openCloud(context);
  const given = {
    ...names,
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
  };
  if (most === undefined) return { events: await listAll(client, 'listAuditEvents', { query: given }), more: false };
  const { body } = await client.call('listAuditEvents', { query: { ...given, limit: most } });
  return { events: body?.items ?? [], more: body !== null && body.next_cursor !== null };
}
