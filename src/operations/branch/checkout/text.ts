import { destinationFacts, type Question, typedName, warningsOf } from '../../../presentation/shapes/question.ts';
import { summaryOf } from '../../../presentation/shapes/summary.ts';
import type { BranchCheckoutPlan, BranchCheckoutResult } from '../../../results/branch-results.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { printable } from '../../../text/printable.ts';

export function branchCheckoutQuestion(plan: BranchCheckoutPlan): Question {
  const { target, destination, git_branch, action, why, previous } = plan;
  if (action === 'tree') return treeQuestion(plan);
  const { database, host } = destination ?? { database: 'The destination', host: '' };
  const to = action === 'restore' ? 'the database of before the first switch' : `branch ${git_branch ?? ''}`;
  return {
    title: why === null ? `Switch ${database} to ${to} of ${target}` : `Nothing to do: ${why}`,
    facts: [
      { name: 'Git branch', value: printable(git_branch ?? 'none') },
      ...(destination ? destinationFacts(destination) : []),
      { name: 'Previous', value: previous === null ? 'kept as the undo copy' : `branch ${printable(previous)}` },
    ],
    steps: plan.steps,
    warnings: warningsOf(plan),
    consequence: action === 'none' ? `${database} is not changed.` : `Clients of ${database} will be disconnected.`,
    ask: `Switch database "${database}" on ${host} to ${to}?`,
    go: 'Switch',
    typed: destination && typedName(destination),
  };
}

function treeQuestion(plan: BranchCheckoutPlan): Question {
  const { target, tree, steps, creates, destination } = plan;
  const { folder = '', file = '', branch = '' } = tree ?? {};
  const go = creates ? 'Create' : 'Write';
  return {
    title: `${creates ? 'Create' : 'Use'} branch ${printable(branch)} of ${target} for the working tree ${printable(folder)}`,
    facts: [{ name: 'File', value: printable(file) }, ...(destination ? destinationFacts(destination) : [])],
    steps: steps.map((step) => printable(step)),
    warnings: warningsOf(plan),
    consequence: `${destination?.database ?? 'The destination'} is not changed.`,
    ask: `${go} branch ${printable(branch)} for this working tree?`,
    go,
    typed: null,
  };
}

/** One line, which the hook prints. */
export function branchCheckoutSummary(result: BranchCheckoutResult): RunSummary {
  return summaryOf(checkoutText(result));
}

function checkoutText({ destination, git_branch, action, why, created, tree }: BranchCheckoutResult): string {
  const branch = printable(git_branch ?? '');
  if (tree && action === 'tree') {
    return `${printable(tree.file)} has the database of ${created ? 'new ' : ''}branch ${printable(tree.branch)}`;
  }
  if (action === 'none') return `${destination} is unchanged: ${printable(why ?? '')}`;
  if (action === 'restore') return `Switched ${destination} to the database of before the first switch`;
  return `Switched ${destination} to ${created ? 'new ' : ''}branch ${branch}`;
}
