import { auditCsv } from '../../src/cloud/contract/audit-csv.ts';
import { eventAnswer, listEvents } from '../database/audit.ts';
import type { Handlers } from './handler.ts';

export const auditRoutes = {
  async listAuditEvents({ query, acceptsCsv }, { db }) {
    const { items, next_cursor } = await listEvents(db, query);
    const events = items.map(eventAnswer);
    const body = { items: events, next_cursor };
    return acceptsCsv ? { body, text: { type: 'text/csv; charset=utf-8', content: auditCsv(events) } } : { body };
  },
} satisfies Partial<Handlers>;
