import { formatBytes } from '../amounts.ts';
import type { CommandModule, CommandSpec, InvocationOf, Outcome } from '../cli/command.ts';
import type { Question } from '../report/question.ts';
import { placesText, snapshotLine } from '../report/snapshots.ts';
import type { RemovePlan } from '../results.ts';
import { DRY_RUN, PLACES, placeOf, SNAPSHOT, TARGET, toSelector } from './shared-options.ts';

const specification = {
  name: 'rm',
  summary: 'remove a snapshot, and the space that no other snapshot needs',
  group: 'Keep and share',
  arguments: [TARGET, { ...SNAPSHOT, description: 'index (0 is the newest) or id of the snapshot', required: true }],
  options: [...PLACES, DRY_RUN],
  examples: [
    { command: 'tool rm app 3', does: 'removes the fourth newest snapshot of "app"' },
    { command: 'tool rm app 3 --local', does: 'the same on this machine only: the bucket keeps it' },
  ],
  json: 'events',
  writes: true,
} as const satisfies CommandSpec;

export const rmCommand: CommandModule = { ...specification, run };

async function run(invocation: InvocationOf<typeof specification>): Promise<Outcome> {
  const { planRemove, remove } = await import('../operations/snapshots/remove.ts');
  const { target, snapshot } = invocation.arguments;
  const context = await invocation.context();
  const plan = await planRemove(context, { target, snapshot: toSelector(snapshot), ...placeOf(invocation.options) });
  if (invocation.options.dryRun) return { data: { dry_run: true, plan }, text: planLines(plan).join('\n') };
  await invocation.confirm(question(plan));
  await remove(context, plan);
  return { data: plan, text: `Removed snapshot ${plan.snapshot.index} of ${target} (${plan.snapshot.id})` };
}

function question(plan: RemovePlan): Question {
  return { plan: planLines(plan), ask: `Remove snapshot ${plan.snapshot.index} of ${plan.target}?` };
}

function planLines({ target, snapshot, from, frees_bytes }: RemovePlan): string[] {
  return [
    `Remove ${snapshotLine(target, snapshot)}`,
    `  from   ${placesText(from)}`,
    `  frees  ${formatBytes(frees_bytes)} that no other snapshot shares`,
    '  undo   none: a removed snapshot cannot be brought back',
  ];
}
