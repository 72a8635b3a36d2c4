import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import { DRY_RUN, PLACES, placeOf, SNAPSHOT, TARGET, toSelector } from './shared-options.ts';

const specification = {
  name: 'rm',
  summary: 'remove a snapshot and objects that no other snapshot needs',
  group: 'Keep and share',
  arguments: [TARGET, { ...SNAPSHOT, description: 'index (0 is the newest) or id of a snapshot', required: true }],
  options: [...PLACES, { flags: '--pinned', description: 'also a pinned snapshot' }, DRY_RUN],
  examples: [
    { command: 'tool rm app 3', does: 'remove the fourth newest snapshot' },
    { command: 'tool rm app 3 --local', does: 'keep it in the bucket' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const rmCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { questionLines } = await import('../cli/printers/question.ts');
  const { removeQuestion, removeSummary } = await import('../presentation/remove.ts');
  const { applyRemove, planRemove } = await import('../operations/snapshots/remove.ts');
  const { target, snapshot } = invocation.arguments;
  const context = await invocation.context();
  const { pinned = false } = invocation.options;
  const planned = await planRemove(context, {
    ...{ target, snapshot: toSelector(snapshot), pinned },
    ...placeOf(invocation.options),
  });
  const { plan } = planned;
  const question = removeQuestion(plan, context.clock());
  if (invocation.options.dryRun) return { data: { dry_run: true, plan }, text: questionLines(question).join('\n') };
  await invocation.confirm(question);
  await applyRemove(context, planned);
  return { data: plan, text: removeSummary(plan).line };
}
