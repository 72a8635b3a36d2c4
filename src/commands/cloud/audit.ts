import { defineCommand } from '../../cli/command.ts';

/** Rows of a table for people. */
const MOST_ROWS = 100;

export const cloudAuditCommand = defineCommand({
  name: 'cloud audit',
  summary: 'list the audit events of the hub, newest first',
  group: 'Hub',
  options: [
    {
      flags: '--since <time>',
      description: 'list events since this time: 2026-01-31, 2026-01-31T14:00Z, or 7d',
      value: 'time',
    },
    { flags: '--until <time>', description: 'list events before this time', value: 'time' },
    { flags: '--actor <name>', description: 'list events of this user or service token' },
    { flags: '--target <name>', description: 'list events of this target' },
    { flags: '--action <name>', description: 'list events of this kind, such as snapshot.download' },
    { flags: '--csv', description: 'print all events as CSV, safe in spreadsheets' },
  ],
  examples: [
    { command: 'tool cloud audit --target orders --since 7d', does: 'list the last week of a target' },
    { command: 'tool cloud audit --action snapshot.download --csv', does: 'print every download as CSV' },
  ],
  json: 'document',
  async run(invocation) {
    const { listAuditEvents } = await import('../../operations/cloud/audit.ts');
    const { csv = false, ...filter } = invocation.options;
    const isTable = !csv && !invocation.globals.json;
    const context = await invocation.context();
    const { events, more } = await listAuditEvents(context, { ...filter, ...(isTable && { most: MOST_ROWS }) });
    if (csv) {
      const { auditCsv } = await import('../../cloud/contract/audit-csv.ts');
      return { data: { events }, text: auditCsv(events).trimEnd(), verbatim: true };
    }
    const { formatTable } = await import('../../cli/printers/table.ts');
    const { AUDIT_COLUMNS, MORE_EVENTS, NO_EVENTS } = await import('../../operations/cloud/audit-text.ts');
    const table = events.length > 0 ? formatTable(AUDIT_COLUMNS, events, invocation.tableOptions()) : NO_EVENTS;
    return { data: { events }, text: more ? `${table}\n\n${MORE_EVENTS}` : table };
  },
});
