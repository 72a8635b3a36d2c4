import { listFacts } from '../../../presentation/shapes/fact.ts';
import { type Question, typedName, warningsOf } from '../../../presentation/shapes/question.ts';
import { summaryOf } from '../../../presentation/shapes/summary.ts';
import type { BranchHookPlan, BranchHookResult } from '../../../results/branch-results.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { printable } from '../../../text/printable.ts';
import { shell } from '../../../text/shell-word.ts';

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
      ...listFacts(
        'Lines',
        lines.map((line) => printable(line)),
      ),
    ],
    steps: [],
    warnings: warningsOf(plan),
    consequence: removes
      ? 'Checkouts will no longer switch the database.'
      : `Each checkout of a git branch will switch the destination without a question. To remove: ${shell`tool branch hook ${target} --remove`}`,
    ask: `${TITLES[action]} ${file}?`,
    go: removes ? 'Remove' : 'Write',
    typed: removes || !destination ? null : typedName(destination),
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

export function branchHookSummary({ file, action }: BranchHookResult): RunSummary {
  return summaryOf(`${DONE[action]} ${file}`);
}
