import type { PrunedTarget, PrunePlan } from '../results/results.ts';
import { formatAge, formatBytes, formatNumberOf } from '../text/format.ts';
import type { Question } from './question.ts';
import { placesText } from './snapshots.ts';

/** What a prune would remove, target by target. */
export function prunePlanLines(plan: PrunePlan, now: Date): string[] {
  if (removed(plan) === 0) return ['Every snapshot is kept'];
  return [
    ...plan.targets.filter(({ remove }) => remove.length > 0).flatMap((target) => targetLines(target, now)),
    `  frees  ${formatBytes(plan.frees_bytes)} that nothing else shares`,
    '  undo   none: a removed snapshot cannot be brought back',
  ];
}

export function pruneQuestion(plan: PrunePlan, now: Date): Question {
  return { plan: prunePlanLines(plan, now), ask: `Remove ${formatNumberOf(removed(plan), 'snapshot')}?` };
}

export function prunedText(plan: PrunePlan): string {
  const kept = plan.targets.reduce((sum, { keep }) => sum + keep.length, 0);
  if (removed(plan) === 0) return `Every snapshot is kept: ${formatNumberOf(kept, 'snapshot')}`;
  return `Removed ${formatNumberOf(removed(plan), 'snapshot')}, kept ${kept}`;
}

function targetLines({ target, keep, remove, from }: PrunedTarget, now: Date): string[] {
  return [
    `Remove ${formatNumberOf(remove.length, 'snapshot')} of ${target} from ${placesText(from)}, keep ${keep.length}`,
    ...remove.map(({ index, id, created_at, note }) => {
      const age = formatAge(now.getTime() - Date.parse(created_at));
      return `  ${index}  ${id}  ${created_at}  ${age}${note === null ? '' : `  ${note}`}`;
    }),
  ];
}

function removed({ targets }: PrunePlan): number {
  return targets.reduce((sum, { remove }) => sum + remove.length, 0);
}
