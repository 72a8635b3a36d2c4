import type { Fact } from '../../presentation/shapes/fact.ts';
import { typedName } from '../../presentation/shapes/question.ts';
import type { BranchDropPlan, BranchResetPlan, BranchRow, BranchServePlan } from '../../results/branch-results.ts';
import { formatBytes, formatNumberOf } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';

export function databaseFacts(branches: { name: string; database: string }[]): Fact[] {
  return branches.map(({ name, database }) => ({
    name: 'Branch',
    value: `${printable(name)}: ${printable(database)}`,
    tone: 'strong',
  }));
}

/** `unless`: what a session survives. */
export function clientsFacts(branches: BranchRow[], unless = ''): Fact[] {
  const clients = branches.reduce((sum, branch) => sum + branch.clients, 0);
  return clients === 0
    ? []
    : [{ name: 'Clients', value: `${formatNumberOf(clients, 'session')} will be ended${unless}` }];
}

/** A branch on another machine is confirmed by its name, as a destination is. */
export function typedBranch({
  destination,
  branches,
}: BranchDropPlan | BranchResetPlan | BranchServePlan): string | null {
  const [first] = branches;
  return first ? typedName({ ...destination, database: first.name }) : null;
}

export function countOf(branches: BranchRow[]): string {
  return formatNumberOf(branches.length, 'branch', 'branches');
}

export function needsText(bytes: number | null): string {
  return `${bytes === null ? 'unknown' : formatBytes(bytes)} needed`;
}

export function sizeText(bytes: number | null): string {
  return bytes === null ? 'unknown' : formatBytes(bytes);
}
