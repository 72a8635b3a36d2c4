import { defineCommand } from '../../cli/command.ts';
import { UserError } from '../../runtime/errors.ts';

export const hubReconcileCommand = defineCommand({
  name: 'hub reconcile',
  summary: "compare the hub's database with its buckets, after a restore",
  group: 'Hub',
  examples: [
    {
      command: 'tool hub reconcile',
      does: 'import snapshots missing in the database, mark those missing in a bucket',
    },
  ],
  json: 'events',
  async run({ environment, report, signal }) {
    const { reconcile } = await import('../../../hub/reconcile/command.ts');
    const result = await reconcile({ environment, report, signal });
    const { reconciledText } = await import('./text.ts');
    if (result.problems.length > 0) {
      throw new UserError('hub_reconcile_incomplete', 'The database and the buckets could not be compared completely', {
        details: [...result.problems, ...reconciledText(result).split('\n')],
        hint: 'Fix the causes, then run: tool hub reconcile',
      });
    }
    return { data: result, text: reconciledText(result) };
  },
});
