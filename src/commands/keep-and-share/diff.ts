import { defineCommand } from '../../cli/command.ts';
import { toSelector } from '../../text/snapshot-selector.ts';
import { ORIGINAL, TARGET } from '../shared-options.ts';
import { wrongUsage } from '../wrong-usage.ts';

export const diffCommand = defineCommand({
  name: 'diff',
  summary: 'compare two snapshots, or a snapshot and the destination',
  group: 'Keep and share',
  arguments: [
    TARGET,
    { name: 'a', description: 'index or id of a snapshot', required: true, complete: 'snapshot' },
    {
      name: 'b',
      description: 'another snapshot; default: the destination (row counts and migrations)',
      required: false,
      complete: 'snapshot',
    },
  ],
  options: [
    { flags: '--table <name>', description: 'compare definition and rows of a table of two local snapshots' },
    { flags: '--reveal', description: 'with --table: also print personal data' },
    ORIGINAL,
  ],
  examples: [
    { command: 'tool diff app 1 0', does: 'compare the newest with the one before' },
    { command: 'tool diff app 1 0 --table public.orders', does: 'compare one table, personal data masked' },
    { command: 'tool diff app 0', does: 'compare with the destination' },
  ],
  json: 'document',
  async run(invocation) {
    const { diffText } = await import('../../cli/printers/lists.ts');
    const { diff } = await import('../../operations/snapshots/diff/diff.ts');
    const { target, a, b } = invocation.arguments;
    const { table, reveal = false, original = false } = invocation.options;
    if (table !== undefined) {
      if (b === undefined) {
        throw wrongUsage('--table requires two snapshots', {
          hint: 'tool diff TARGET A B --table NAME',
        });
      }
      const { tableDiffText } = await import('../../cli/printers/lists.ts');
      const { diffTable } = await import('../../operations/snapshots/diff/table-diff.ts');
      const request = { target, a: toSelector(a), b: toSelector(b), table, reveal, original };
      const changes = await diffTable(await invocation.context(), request);
      return { data: changes, text: tableDiffText(changes, invocation.tableOptions()) };
    }
    const result = await diff(await invocation.context(), {
      target,
      a: toSelector(a),
      ...(b !== undefined && { b: toSelector(b) }),
      original,
    });
    return { data: result, text: diffText(result, invocation.tableOptions()) };
  },
});
