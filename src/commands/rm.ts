import { formatBytes } from '../amounts.ts';
import type { Invocation, Outcome } from '../cli/command.ts';
import { planRemove, remove } from '../operations/snapshots/remove.ts';
import type { Question } from '../report/question.ts';
import { placesText, snapshotLine } from '../report/snapshots.ts';
import type { RemovePlan } from '../results.ts';
import { type PlaceOptions, placeOf, toSelector } from './selector.ts';

interface Arguments {
  target: string;
  snapshot: string;
}

interface Options extends PlaceOptions {
  dryRun?: boolean;
}

export async function run(invocation: Invocation<Arguments, Options>): Promise<Outcome> {
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
