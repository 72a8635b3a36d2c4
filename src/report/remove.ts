import type { RemovePlan } from '../results/results.ts';
import { formatBytes } from '../text/format.ts';
import type { Question } from './question.ts';
import { placesText, snapshotLine } from './snapshots.ts';

export function removeQuestion(plan: RemovePlan): Question {
  return { plan: removePlanLines(plan), ask: `Remove snapshot ${plan.snapshot.index} of ${plan.target}?` };
}

export function removePlanLines({ target, snapshot, from, frees_bytes }: RemovePlan): string[] {
  return [
    `Remove ${snapshotLine(target, snapshot)}`,
    `  from   ${placesText(from)}`,
    `  frees  ${formatBytes(frees_bytes)} that no other snapshot shares`,
    '  undo   none: a removed snapshot cannot be brought back',
  ];
}
