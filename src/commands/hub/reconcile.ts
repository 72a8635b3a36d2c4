import type { CommandModule, CommandSpec, Invocation, Outcome } from '../../cli/command.ts';
import { UserError } from '../../runtime/errors.ts';

const specification = {
  name: 'hub reconcile',
  summary: "compare the hub's database with its buckets, after a restore",
  group: 'Hub',
  arguments: [],
  options: [],
  examples: [
    {
      command: 'tool hub reconcile',
      does: 'import snapshots missing in the database, mark those missing in a bucket',
    },
  ],
  json: 'events',
} as const satisfies CommandSpec;

export const hubReconcileCommand: CommandModule = { ...specification, run };

async function run({ environment, report, signal }: Invocation): Promise<Outcome> {
  const { reconcile } = await import('../../../hub/reconcile/command.ts');
  const result = await reconcile({ environment, report, signal });
  const { reconciledText } = await import('../../presentation/hub.ts');
  if (result.problems.length > 0) {
    throw new UserError('The database and the buckets could not be compared completely', {
      code: 'hub_reconcile_incomplete',
      details: [...result.problems, ...reconciledText(result).split('\n')],
      hint: 'Fix the causes, then run: tool hub reconcile',
    });
  }
  return { data: result, text: reconciledText(result) };
}
