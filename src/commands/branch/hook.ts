import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../../cli/command.ts';
import { DRY_RUN, TARGET } from '../shared-options.ts';
import { MAIN } from './shared-options.ts';

const specification = {
  name: 'branch hook',
  summary: 'install a git hook that runs branch checkout after each git checkout',
  group: 'Branches',
  arguments: [TARGET],
  options: [MAIN, { flags: '--remove', description: 'remove the hook; other lines of the file stay' }, DRY_RUN],
  examples: [
    { command: 'tool branch hook app', does: 'show the lines, and write them after a yes' },
    { command: 'tool branch hook app --remove', does: 'remove the lines' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const branchHookCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { questionLines } = await import('../../cli/printers/question.ts');
  const { branchHookQuestion, branchHookText } = await import('../../presentation/branch-checkout.ts');
  const { applyBranchHook, planBranchHook } = await import('../../operations/branch/hook.ts');
  const { dryRun, ...options } = invocation.options;
  const { config } = invocation.globals;
  const context = await invocation.context();
  const planned = await planBranchHook(context, { ...invocation.arguments, ...options, config });
  const { plan } = planned;
  const question = branchHookQuestion(plan);
  if (dryRun) return { data: { dry_run: true, plan }, text: questionLines(question).join('\n') };
  if (plan.action !== 'none') await invocation.confirm(question);
  const result = await applyBranchHook(context, planned);
  return { data: result, text: branchHookText(result) };
}
