import { defineCommand } from '../../cli/command.ts';
import { TARGET } from '../shared-options.ts';

/** Rows of a table for people. */
const MOST_ROWS = 50;

export const historyCommand = defineCommand({
  name: 'history',
  summary: 'list builds, loads, resets and transfers, newest first: 50, or all with --json',
  group: 'Inspect',
  arguments: [{ ...TARGET, description: 'name of a target; default: all', required: false }],
  examples: [
    { command: 'tool history app', does: 'list the history of a target' },
    { command: 'tool history --json', does: 'print all entries for scripts' },
  ],
  json: 'document',
  async run(invocation) {
    const { formatTable } = await import('../../cli/printers/table.ts');
    const { historyColumns, historyNotes, NO_HISTORY } = await import('../../operations/history/text.ts');
    const { listHistory } = await import('../../operations/history/list-history.ts');
    const list = listHistory(await invocation.context(), invocation.arguments);
    const rows = list.entries.slice(0, MOST_ROWS);
    const options = invocation.tableOptions();
    const table = rows.length > 0 ? formatTable(historyColumns(options.style), rows, options) : NO_HISTORY;
    const notes = historyNotes(list, rows.length);
    return { data: list, text: [table, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n') };
  },
});
