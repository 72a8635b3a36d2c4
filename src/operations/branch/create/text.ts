import { type Question, restoringFacts, serverFact, warningsOf } from '../../../presentation/shapes/question.ts';
import { summaryOf } from '../../../presentation/shapes/summary.ts';
import type { BranchCreatePlan, BranchCreateResult } from '../../../results/branch-results.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { printable } from '../../../text/printable.ts';
import { databaseFacts, needsText } from '../shared-text.ts';

export function branchCreateQuestion(plan: BranchCreatePlan): Question {
  const { target, destination, base, load, branches, existing } = plan;
  const count = formatNumberOf(branches.length, 'branch', 'branches');
  return {
    title: `Create ${count} of ${target}`,
    facts: [
      plan.from
        ? { name: 'From', value: `branch ${printable(plan.from.name)}, its present state by a save` }
        : { name: 'Base copy', value: base ? base.database : `snapshot ${load?.id ?? 'unknown'}, to be loaded first` },
      ...restoringFacts(plan),
      { name: 'Owner and settings', value: `those of ${plan.from ? plan.from.url : destination.url}` },
      ...databaseFacts(branches),
      ...existing.map(({ name }) => ({ name: 'Exists', value: printable(name) })),
      { name: 'Disk space', value: needsText(plan.needs_bytes) },
      serverFact(destination),
    ],
    steps: plan.steps,
    warnings: warningsOf(plan),
    consequence: `${destination.database} is not changed.`,
    ask: `Create ${count}?`,
    go: 'Create',
    typed: null,
  };
}

export function branchCreateSummary({ target, branches }: BranchCreateResult): RunSummary {
  const created = branches.filter((branch) => branch.created).map(({ name }) => printable(name));
  const line = created.length === 0 ? `The branches of ${target} exist` : `Created ${created.join(', ')} of ${target}`;
  const title = created.length === 0 ? 'No new branch' : `${created.join(', ')} created`;
  const url = (branches.find((branch) => branch.created) ?? branches[0])?.url;
  return summaryOf(line, {
    card: { title, facts: [] },
    details: branches.map((branch) => branch.url),
    ...(url !== undefined && { url }),
  });
}

export function branchUrlLines({ branches, environment }: BranchCreateResult): string {
  if (environment)
    return Object.entries(environment)
      .map(([name, url]) => `${name}=${url}`)
      .join('\n');
  return branches.map(({ url }) => url).join('\n');
}
