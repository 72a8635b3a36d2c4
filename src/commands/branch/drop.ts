import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from '../shared-options.ts';
import { DESTDB } from './shared-options.ts';

const specification = {
  name: 'branch drop',
  summary: 'drop branches',
  group: 'Branches',
  arguments: [TARGET, { name: 'names', description: 'names of branches', required: true, variadic: true }],
  options: [DESTDB, DRY_RUN, UNVERIFIED_SOURCES],
  examples: [
    { command: 'tool branch drop app login-form', does: 'drop its database' },
    { command: 'tool branch drop app test_1 test_2 --yes', does: 'drop two in a script' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const branchDropCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { questionLines } = await import('../../cli/printers/question.ts');
  const { branchDropQuestion, branchDropSummary } = await import('../../presentation/branch.ts');
  const { summaryText } = await import('../../presentation/shapes/summary.ts');
  const { applyBranchDrop, planBranchDrop } = await import('../../operations/branch/drop.ts');
  const { dryRun, ...options } = invocation.options;
  const context = await invocation.context();
  const planned = await planBranchDrop(context, { ...invocation.arguments, ...options });
  const { plan } = planned;
  const question = branchDropQuestion(plan);
  if (dryRun) return { data: { dry_run: true, plan }, text: questionLines(question).join('\n') };
  await invocation.confirm(question);
  const result = await applyBranchDrop(context, planned);
  return { data: result, text: summaryText(branchDropSummary(result)) };
}
