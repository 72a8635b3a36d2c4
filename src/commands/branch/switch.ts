import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';
import { DRY_RUN, TARGET, UNVERIFIED_SOURCES } from '../shared-options.ts';
import { BRANCH, DESTDB } from './shared-options.ts';

const specification = {
  name: 'branch switch',
  summary: 'make a branch the destination database',
  group: 'Branches',
  arguments: [TARGET, BRANCH],
  options: [DESTDB, DRY_RUN, UNVERIFIED_SOURCES],
  examples: [
    { command: 'tool branch switch app login-form', does: 'let the application use the branch, with its present URL' },
    { command: 'tool branch switch app login-form --yes', does: 'switch in a script; tool undo app reverts it' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const branchSwitchCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { questionLines } = await import('../../cli/printers/question.ts');
  const { branchSwitchQuestion, branchSwitchSummary } = await import('../../presentation/branch.ts');
  const { summaryText } = await import('../../presentation/shapes/summary.ts');
  const { applyBranchSwitch, planBranchSwitch } = await import('../../operations/branch/switch.ts');
  const { dryRun, ...options } = invocation.options;
  const context = await invocation.context();
  const planned = await planBranchSwitch(context, { ...invocation.arguments, ...options });
  const { plan } = planned;
  const question = branchSwitchQuestion(plan);
  if (dryRun) return { data: { dry_run: true, plan }, text: questionLines(question).join('\n') };
  await invocation.confirm(question);
  const result = await applyBranchSwitch(context, planned);
  return { data: result, text: summaryText(branchSwitchSummary(result)) };
}
