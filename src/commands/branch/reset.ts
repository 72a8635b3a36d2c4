import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from '../shared-options.ts';
import { BRANCH, DESTDB } from './shared-options.ts';

const specification = {
  name: 'branch reset',
  summary: 'restore a branch to the base copy',
  group: 'Branches',
  arguments: [TARGET, BRANCH],
  options: [
    { flags: '--all', description: 'all branches NAME_1, NAME_2 … of --count' },
    DESTDB,
    DRY_RUN,
    UNVERIFIED_SOURCES,
  ],
  examples: [
    { command: 'tool branch reset app login-form', does: 'restore the base copy' },
    { command: 'tool branch reset app --all test --yes', does: 'reset the branches of all test workers' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const branchResetCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { questionLines } = await import('../../cli/printers/question.ts');
  const { branchResetQuestion, branchResetSummary } = await import('../../presentation/branch.ts');
  const { summaryText } = await import('../../presentation/shapes/summary.ts');
  const { applyBranchReset, planBranchReset } = await import('../../operations/branch/reset.ts');
  const { dryRun, ...options } = invocation.options;
  const context = await invocation.context();
  const planned = await planBranchReset(context, { ...invocation.arguments, ...options });
  const { plan } = planned;
  const question = branchResetQuestion(plan);
  if (dryRun) return { data: { dry_run: true, plan }, text: questionLines(question).join('\n') };
  await invocation.confirm(question);
  const result = await applyBranchReset(context, planned);
  return { data: result, text: summaryText(branchResetSummary(result)) };
}
