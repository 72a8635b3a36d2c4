import { type Question, warningsOf } from '../../../presentation/shapes/question.ts';
import { summaryOf } from '../../../presentation/shapes/summary.ts';
import type { BranchServePlan, BranchServeResult } from '../../../results/branch-results.ts';
import type { ServingEvent } from '../../../results/events.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { printable } from '../../../text/printable.ts';
import { shell } from '../../../text/shell-word.ts';
import { countOf, databaseFacts, typedBranch } from '../shared-text.ts';

export function branchServeQuestion(plan: BranchServePlan): Question {
  const { target, base, branches } = plan;
  return {
    title: `Reset ${countOf(branches)} of ${target} on request`,
    facts: [
      { name: 'Base copy', value: `${base.database}, snapshot ${base.snapshot ?? 'unknown'}` },
      ...databaseFacts(branches),
    ],
    steps: plan.steps,
    warnings: warningsOf(plan),
    consequence: 'Each request replaces the contents of a branch. This cannot be undone.',
    ask: `Reset ${countOf(branches)} whenever that is requested?`,
    go: 'Accept requests',
    typed: typedBranch(plan),
  };
}

/** The first thing printed, by which clients find it. */
export function servingLines({ socket, url, token, branches }: Omit<ServingEvent, 'event'>): string[] {
  const request = (path: string): string =>
    socket === null
      ? shell`curl -X POST -H ${`Authorization: Bearer ${token}`} ${`${url}${path}`}`
      : shell`curl -X POST --unix-socket ${socket} ${`http://localhost${path}`}`;
  return branches.map(({ branch, path }) => `${printable(branch)}: ${request(path)}`);
}

export function branchServeSummary({ target, in_place, by_copy }: BranchServeResult): RunSummary {
  const all = formatNumberOf(in_place + by_copy, 'reset');
  return summaryOf(`Ended: ${all} of branches of ${target}, ${in_place} in place`);
}
