import { destinationFacts, type Question, typedName, warningsOf } from '../../../presentation/shapes/question.ts';
import { summaryOf } from '../../../presentation/shapes/summary.ts';
import type { BranchCheckoutPlan, BranchCheckoutResult } from '../../../results/branch-results.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { printable } from '../../../text/printable.ts';

export function branchCheckoutQuestion(plan: BranchCheckoutPlan): Question {
  const { target, destination, git_branch, action, why, previous } = plan;
  const { database, host } = destination;
  const to = action === 'restore' ? 'the database of before the first switch' : `branch ${git_branch ?? ''}`;
  return {
    title: why === null ? `Switch ${database} to ${to} of ${target}` : `Nothing to do: ${why}`,
    facts: [
      { name: 'Git branch', value: printable(git_branch ?? 'none') },
      ...destinationFacts(destination),
      { name: 'Previous', value: previous === null ? 'kept as the undo copy' : `branch ${printable(previous)}` },
    ],
    steps: plan.steps,
    warnings: warningsOf(plan),
    consequence: action === 'none' ? `${database} is not changed.` : `Clients of ${database} will be disconnected.`,
    ask: `Switch database "${database}" on ${host} to ${to}?`,
    go: 'Switch',
    typed: typedName(plan.destination),
  };
}

/** One line, which the hook prints. */
export function branchCheckoutSummary(result: BranchCheckoutResult): RunSummary {
  return summaryOf(checkoutText(result));
}

function checkoutText({ destination, git_branch, action, why, created }: BranchCheckoutResult): string {
  const branch = printable(git_branch ?? '');
  if (action === 'none') return `${destination} is unchanged: ${printable(why ?? '')}`;
  if (action === 'restore') return `Switched ${destination} to the database of before the first switch`;
  return `Switched ${destination} to ${created ? 'new ' : ''}branch ${branch}`;
}
