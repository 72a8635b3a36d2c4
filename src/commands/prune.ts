import type { Invocation, Outcome } from '../cli/command.ts';
import { planPrune, prune } from '../operations/snapshots/prune.ts';
import { prunedText, prunePlanLines, pruneQuestion } from '../report/prune.ts';
import { type PlaceOptions, placeOf } from './selector.ts';

interface Arguments {
  target?: string;
}

interface Options extends PlaceOptions {
  keepLast?: number;
  keepWithin?: number;
  keepDaily?: number;
  keepWeekly?: number;
  keepMonthly?: number;
  dryRun?: boolean;
}

export async function run(invocation: Invocation<Arguments, Options>): Promise<Outcome> {
  const { keepLast, keepWithin, keepDaily, keepWeekly, keepMonthly, dryRun } = invocation.options;
  const context = await invocation.context();
  const keep = {
    ...(keepLast !== undefined && { last: keepLast }),
    ...(keepWithin !== undefined && { within: keepWithin }),
    ...(keepDaily !== undefined && { daily: keepDaily }),
    ...(keepWeekly !== undefined && { weekly: keepWeekly }),
    ...(keepMonthly !== undefined && { monthly: keepMonthly }),
  };
  const plan = await planPrune(context, { ...invocation.arguments, keep, ...placeOf(invocation.options) });
  const count = plan.targets.reduce((sum, { remove }) => sum + remove.length, 0);
  if (dryRun) return { data: { dry_run: true, plan }, text: prunePlanLines(plan, context.clock()).join('\n') };
  if (count === 0) return { data: plan, text: prunedText(plan) };
  await invocation.confirm(pruneQuestion(plan, context.clock()));
  await prune(context, plan);
  return { data: plan, text: prunedText(plan) };
}
