import type { Question } from '../../../presentation/shapes/question.ts';
import { summaryOf } from '../../../presentation/shapes/summary.ts';
import type { BranchPrunePlan, BranchPruneResult } from '../../../results/branch-results.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { printable } from '../../../text/printable.ts';
import { droppingQuestion } from '../drop/text.ts';
import { countOf } from '../shared-text.ts';

export function branchPruneQuestion({ targets }: BranchPrunePlan): Question {
  const plans = targets.filter(({ branches }) => branches.length > 0);
  const count = countOf(plans.flatMap(({ branches }) => branches));
  const why = Object.assign({}, ...plans.map((plan) => plan.why)) as Record<string, string>;
  return droppingQuestion({ title: `Drop ${count}`, plans, why });
}

export function branchPruneSummary({ dropped }: BranchPruneResult, { targets }: BranchPrunePlan): RunSummary {
  const kept = targets.flatMap((target) => target.kept);
  const line =
    dropped.length === 0 ? 'No branch was dropped' : `Dropped ${dropped.map(({ name }) => printable(name)).join(', ')}`;
  return summaryOf(`${line}, kept ${kept.length}`, {
    details: kept.map(({ name, why }) => `Kept ${printable(name)}: ${printable(why)}`),
  });
}
