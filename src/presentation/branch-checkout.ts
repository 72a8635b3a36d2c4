import type {
  BranchCheckoutPlan,
  BranchCheckoutResult,
  BranchHookPlan,
  BranchHookResult,
} from '../results/branch-results.ts';
import { printable } from '../text/printable.ts';
import { destinationFacts, type Question, typedName, warningsOf } from './shapes/question.ts';

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
    typed: typedName(plan),
  };
}

/** One line: the hook prints it. */
export function branchCheckoutText({ destination, git_branch, action, why, created }: BranchCheckoutResult): string {
  const branch = printable(git_branch ?? '');
  if (action === 'none') return `${destination} is unchanged: ${printable(why ?? '')}`;
  if (action === 'restore') return `Switched ${destination} to the database of before the first switch`;
  return `Switched ${destination} to ${created ? 'new ' : ''}branch ${branch}`;
}

const TITLES: Record<BranchHookPlan['action'], string> = {
  create: 'Create the git hook',
  add: 'Add lines to the git hook',
  replace: 'Replace lines of the git hook',
  remove: 'Remove lines from the git hook',
  delete: 'Delete the git hook',
  none: 'Nothing to do for the git hook',
};

export function branchHookQuestion(plan: BranchHookPlan): Question {
  const { target, file, action, text, destination } = plan;
  const removes = action === 'remove' || action === 'delete';
  const lines = text.split('\n').slice(0, -1);
  return {
    title: `${TITLES[action]} ${file}`,
    facts: [
      ...(destination ? [{ name: 'Destination', value: destination.url }] : []),
      ...lines.map((line, index) => ({ name: index === 0 ? 'Lines' : '', value: printable(line) })),
    ],
    steps: [],
    warnings: warningsOf(plan),
    consequence: removes
      ? 'Checkouts will no longer switch the database.'
      : `Each checkout of a git branch will switch the destination without a question. To remove: tool branch hook ${target} --remove`,
    ask: `${TITLES[action]} ${file}?`,
    go: removes ? 'Remove' : 'Write',
    typed: removes || !destination ? null : typedName({ destination, unverified_sources: plan.unverified_sources }),
  };
}

const DONE: Record<BranchHookPlan['action'], string> = {
  create: 'Created',
  add: 'Added the lines to',
  replace: 'Replaced the lines of',
  remove: 'Removed the lines from',
  delete: 'Deleted',
  none: 'Nothing to do for',
};

export function branchHookText({ file, action }: BranchHookResult): string {
  return `${DONE[action]} ${file}`;
}
