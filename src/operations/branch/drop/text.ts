import { type Question, warningsOf } from '../../../presentation/shapes/question.ts';
import { summaryOf } from '../../../presentation/shapes/summary.ts';
import type { BranchDropPlan, BranchDropResult } from '../../../results/branch-results.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { formatBytes } from '../../../text/format.ts';
import { printable } from '../../../text/printable.ts';
import { clientsFacts, countOf, typedBranch } from '../shared-text.ts';

export function branchDropQuestion(plan: BranchDropPlan): Question {
  return droppingQuestion({ title: `Drop ${countOf(plan.branches)} of ${plan.target}`, plans: [plan], why: {} });
}

export function branchDropSummary({ target, dropped }: BranchDropResult): RunSummary {
  return summaryOf(`Dropped ${dropped.map(({ name }) => printable(name)).join(', ') || 'no branch'} of ${target}`);
}

interface DropText {
  title: string;
  plans: BranchDropPlan[];
  why: Record<string, string>;
}

export function droppingQuestion({ title, plans, why }: DropText): Question {
  const branches = plans.flatMap((plan) => plan.branches);
  const sizes = branches.map(({ own_bytes }) => own_bytes);
  const known = sizes.filter((size) => size !== null).reduce((sum, size) => sum + size, 0);
  const frees = `${sizes.includes(null) ? 'at least ' : ''}${formatBytes(known)}`;
  return {
    title,
    facts: [
      ...branches.map(({ name, database }) => ({
        name: 'Drop',
        value: `${printable(database)}${why[name] === undefined ? '' : `: ${why[name]}`}`,
      })),
      { name: 'Frees', value: frees },
      ...clientsFacts(branches),
    ],
    steps: [],
    warnings: plans.flatMap(warningsOf),
    consequence: 'The databases will be dropped. This cannot be undone.',
    ask: `Drop ${countOf(branches)}?`,
    go: `Drop ${countOf(branches)}`,
    typed: plans.map(typedBranch).find((typed) => typed !== null) ?? null,
  };
}
