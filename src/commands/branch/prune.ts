import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from '../shared-options.ts';

const specification = {
  name: 'branch prune',
  summary: 'drop branches without a git branch, or unused ones',
  group: 'Branches',
  arguments: [{ ...TARGET, description: 'name of a target; default: all', required: false }],
  options: [
    { flags: '--unused <age>', description: 'also drop branches unused for 14d, 8w, 6m', value: 'duration' },
    DRY_RUN,
    UNVERIFIED_SOURCES,
  ],
  examples: [
    { command: 'tool branch prune --dry-run', does: 'print what would be dropped and kept, with reasons' },
    { command: 'tool branch prune app --unused 14d', does: 'also drop branches unused for two weeks' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const branchPruneCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { questionLines } = await import('../../cli/printers/question.ts');
  const { branchPruneQuestion, branchPruneSummary } = await import('../../presentation/branch.ts');
  const { summaryText } = await import('../../presentation/shapes/summary.ts');
  const { applyBranchPrune, planBranchPrune } = await import('../../operations/branch/prune.ts');
  const { dryRun, unused: unusedMs, ...options } = invocation.options;
  const context = await invocation.context();
  const planned = await planBranchPrune(context, { ...invocation.arguments, ...options, unusedMs });
  const { plan } = planned;
  const question = branchPruneQuestion(plan);
  if (dryRun) return { data: { dry_run: true, plan }, text: questionLines(question).join('\n') };
  if (plan.targets.some(({ branches }) => branches.length > 0)) await invocation.confirm(question);
  const result = await applyBranchPrune(context, planned);
  return { data: result, text: summaryText(branchPruneSummary(result, plan)) };
}
