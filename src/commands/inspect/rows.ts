import { defineCommand } from '../../cli/command.ts';
import { ORIGINAL, REQUIRED_SNAPSHOT, snapshotRequest, TARGET } from '../shared-options.ts';

export const rowsCommand = defineCommand({
  name: 'rows',
  summary: 'print the first rows of a table of a snapshot',
  group: 'Inspect',
  arguments: [
    TARGET,
    REQUIRED_SNAPSHOT,
    { name: 'table', description: 'schema.table, or a unique table name', required: true },
  ],
  options: [
    { flags: '--limit <n>', description: 'number of rows, at most 1000; default 50', value: 'count' },
    { flags: '--reveal', description: 'also print values that look like personal data' },
    ORIGINAL,
  ],
  examples: [
    { command: 'tool rows app 0 public.orders', does: 'print 50 rows, personal data masked' },
    { command: 'tool rows app 0 orders --limit 5 --json', does: 'print five rows as JSON' },
  ],
  json: 'document',
  async run(invocation) {
    const { printedRows } = await import('../../cli/printers/lists.ts');
    const { readRows } = await import('../../operations/snapshots/rows/rows.ts');
    const { table } = invocation.arguments;
    const { limit, reveal = false } = invocation.options;
    const result = await readRows(await invocation.context(), {
      ...snapshotRequest(invocation),
      ...{ table, reveal, ...(limit !== undefined && { limit }) },
    });
    return { data: result, text: printedRows(result, invocation.tableOptions()) };
  },
});
