import type { listEvents } from './database/audit.ts';

export type AuditRow = Awaited<ReturnType<typeof listEvents>>['items'][number];

const COLUMNS = ['at', 'actor', 'action', 'target', 'object', 'outcome', 'address'] as const;

/** An event as it is sent: its time as text, and nothing of its key. */
export function eventAnswer({ at, actor, action, target, object, outcome, address }: AuditRow) {
  return { at: at.toISOString(), actor, action, target, object, outcome, address };
}

/** RFC 4180. A spreadsheet takes a text that begins so for a formula. */
export function csvOf(events: ReturnType<typeof eventAnswer>[]): string {
  const cell = (value: string | null): string => {
    const text = /^[=+\-@\t\r]/.test(value ?? '') ? `'${value}` : (value ?? '');
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = events.map((event) => COLUMNS.map((column) => cell(event[column])).join(','));
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`;
}
