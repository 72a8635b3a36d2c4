import type { AuditEvent } from './schemas.ts';

const COLUMNS = ['at', 'actor', 'action', 'target', 'object', 'outcome', 'address', 'subject', 'issuer'] as const;

/** A spreadsheet takes a text that begins so for a formula (OWASP, CSV injection); some read the wide forms, too. */
const FORMULA = /^\s*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** Audit events as CSV (RFC 4180) that is safe to open in a spreadsheet. */
export function auditCsv(events: AuditEvent[]): string {
  const cell = (value: string | null): string => {
    const text = FORMULA.test(value ?? '') ? `'${value}` : (value ?? '');
    return /[",\r\n;\t']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = events.map((event) => COLUMNS.map((column) => cell(event[column] ?? null)).join(','));
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`;
}
