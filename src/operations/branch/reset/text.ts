import { type Question, warningsOf } from '../../../presentation/shapes/question.ts';
import { summaryOf, unavailableFor } from '../../../presentation/shapes/summary.ts';
import type { BranchResetPlan, BranchResetResult } from '../../../results/branch-results.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { printable } from '../../../text/printable.ts';
import { shell } from '../../../text/shell-word.ts';
import { automaticSaveFacts } from '../../save/text.ts';
import { clientsFacts, databaseFacts, needsText, typedBranch } from '../shared-text.ts';

export function branchResetQuestion(plan: BranchResetPlan): Question {
  const { target, destination, base, branches } = plan;
  const count = formatNumberOf(branches.length, 'branch', 'branches');
  const current = branches.some((branch) => branch.current);
  return {
    title: `Reset ${count} of ${target} to ${base ? 'the base copy' : 'the state of another branch'}`,
    facts: [
      ...(base ? [{ name: 'Base copy', value: `${base.database}, snapshot ${base.snapshot ?? 'unknown'}` }] : []),
      ...branches.flatMap(({ name, origin }) =>
        origin
          ? [{ name: 'Restores', value: `${printable(name)}: branch ${printable(origin.branch)}, save ${origin.save}` }]
          : [],
      ),
      ...databaseFacts(branches),
      { name: 'Disk space', value: needsText(plan.needs_bytes) },
      ...clientsFacts(branches, ', unless the reset is in place'),
      ...automaticSaveFacts(plan.automatic_saves ?? []),
    ],
    steps: plan.steps,
    warnings: warningsOf(plan),
    consequence: current
      ? `The contents will be replaced. The previous ${destination.database} is kept for one undo.`
      : 'The contents will be replaced. This cannot be undone.',
    ask: `Reset ${count}?`,
    go: `Reset ${count}`,
    typed: typedBranch(plan),
  };
}

export function branchResetSummary(
  { target, branches, undo_database }: BranchResetResult,
  { branches: [first] }: Pick<BranchResetPlan, 'branches'>,
): RunSummary {
  const times = branches.map(({ swap_ms }) => swap_ms ?? 0);
  const names = branches.map(({ name }) => printable(name)).join(', ');
  const longest = Math.max(0, ...times);
  return summaryOf(`Reset ${names} of ${target}`, {
    card: { title: `${names} reset`, facts: [] },
    ...(first && { url: first.url }),
    ...unavailableFor(branches.length > 1 ? 'The slowest of them' : names, longest),
    undo: undo_database === null ? null : { database: 'destination', command: shell`tool undo ${target}` },
  });
}
