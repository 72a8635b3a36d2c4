import type {
  BranchCreatePlan,
  BranchCreateResult,
  BranchDropPlan,
  BranchDropResult,
  BranchPrunePlan,
  BranchPruneResult,
  BranchResetPlan,
  BranchResetResult,
  BranchRow,
  BranchSwitchPlan,
  BranchSwitchResult,
  TargetBranch,
} from '../results/branch-results.ts';
import type { RunSummary } from '../state/runs.ts';
import { formatAge, formatBytes, formatNumberOf, formatTime } from '../text/format.ts';
import { printable } from '../text/printable.ts';
import type { Column } from './shapes/column.ts';
import type { Fact } from './shapes/fact.ts';
import {
  destinationFacts,
  type Question,
  restoringFacts,
  serverFact,
  type TypedName,
  typedName,
  undoFacts,
  warningsOf,
} from './shapes/question.ts';
import { summaryOf, unavailableFor } from './shapes/summary.ts';

export const NO_BRANCHES = 'No branches. Create one: tool branch create TARGET NAME';

export const NO_BRANCH = 'No branch is selected';
export const CURRENT_BRANCH = 'The branch is the destination at present';
export const NAME_OF_BRANCH = 'The name of the branch, such as that of the git branch';

/** Of the branches of one target. */
export function branchColumns(now: Date): Column<BranchRow>[] {
  return [
    {
      title: 'BRANCH',
      grows: true,
      essential: true,
      cell: ({ name, current }) => ({ text: printable(name), ...(current && { mark: ' *' }) }),
    },
    { title: 'DATABASE', dropRank: 2, cell: ({ database }) => ({ text: printable(database) }) },
    { title: 'AGE', whole: true, cell: (branch) => ({ text: ageText(branch.reset_at ?? branch.created_at, now) }) },
    { title: 'SIZE', align: 'right', whole: true, cell: ({ size_bytes }) => ({ text: sizeText(size_bytes) }) },
    { title: 'OWN', align: 'right', dropRank: 6, cell: ({ own_bytes }) => ({ text: sizeText(own_bytes) }) },
    { title: 'SNAPSHOT', whole: true, dropRank: 3, cell: ({ snapshot }) => ({ text: snapshot ?? 'unknown' }) },
    { title: 'GIT BRANCH', dropRank: 5, cell: ({ git_branch }) => ({ text: printable(git_branch ?? '') }) },
    { title: 'LAST USED', whole: true, dropRank: 1, cell: (branch) => ({ text: lastUseText(branch, now) }) },
  ];
}

/** Of several targets. */
export function targetBranchColumns(now: Date): Column<TargetBranch>[] {
  const target: Column<TargetBranch> = {
    title: 'TARGET',
    dropRank: 4,
    cell: ({ target }) => ({ text: printable(target) }),
  };
  return [target, ...branchColumns(now)];
}

export function countedBranches(branches: BranchRow[]): string {
  return countOf(branches);
}

export function branchFacts(branch: BranchRow, now: Date): { title: string; facts: Fact[] } {
  const { name, url, created_at, reset_at, snapshot, repository, git_branch, own_bytes, size_bytes } = branch;
  const git = git_branch === null ? 'none' : `${git_branch}${repository === null ? '' : ` of ${repository}`}`;
  const own = own_bytes === size_bytes ? '' : `, of its own: ${sizeText(own_bytes)}`;
  return {
    title: `${printable(name)}${branch.current ? ', the destination at present' : ''}`,
    facts: [
      { name: 'URL', value: printable(url) },
      { name: 'Created', value: formatTime(created_at) },
      ...(reset_at === null ? [] : [{ name: 'Reset', value: formatTime(reset_at) }]),
      { name: 'Last used', value: lastUseText(branch, now) },
      { name: 'Snapshot', value: snapshot ?? 'unknown' },
      { name: 'Size', value: `${sizeText(size_bytes)}${own}` },
      { name: 'Git branch', value: printable(git) },
    ],
  };
}

export function branchUrlLines({ branches, environment }: BranchCreateResult): string {
  if (environment)
    return Object.entries(environment)
      .map(([name, url]) => `${name}=${url}`)
      .join('\n');
  return branches.map(({ url }) => url).join('\n');
}

export function branchCreateQuestion(plan: BranchCreatePlan): Question {
  const { target, destination, base, load, branches, existing } = plan;
  const count = formatNumberOf(branches.length, 'branch', 'branches');
  return {
    title: `Create ${count} of ${target}`,
    facts: [
      { name: 'Base copy', value: base ? base.database : `snapshot ${load?.id ?? 'unknown'}, to be loaded first` },
      ...restoringFacts(plan),
      { name: 'Owner and settings', value: `those of ${destination.url}` },
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

export function branchResetQuestion(plan: BranchResetPlan): Question {
  const { target, destination, base, branches } = plan;
  const count = formatNumberOf(branches.length, 'branch', 'branches');
  const current = branches.some((branch) => branch.current);
  return {
    title: `Reset ${count} of ${target} to the base copy`,
    facts: [
      { name: 'Base copy', value: `${base.database}, snapshot ${base.snapshot ?? 'unknown'}` },
      ...databaseFacts(branches),
      { name: 'Disk space', value: needsText(plan.needs_bytes) },
      ...clientsFacts(branches),
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

export function branchDropQuestion(plan: BranchDropPlan): Question {
  return droppingQuestion({ title: `Drop ${countOf(plan.branches)} of ${plan.target}`, plans: [plan], why: {} });
}

export function branchPruneQuestion({ targets }: BranchPrunePlan): Question {
  const plans = targets.filter(({ branches }) => branches.length > 0);
  const count = countOf(plans.flatMap(({ branches }) => branches));
  const why = Object.assign({}, ...plans.map((plan) => plan.why)) as Record<string, string>;
  return droppingQuestion({ title: `Drop ${count}`, plans, why });
}

interface Dropping {
  title: string;
  plans: BranchDropPlan[];
  why: Record<string, string>;
}

function droppingQuestion({ title, plans, why }: Dropping): Question {
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

export function branchSwitchQuestion(plan: BranchSwitchPlan): Question {
  const { target, destination, branch, previous } = plan;
  const { database } = destination;
  return {
    title: `Switch ${database} to branch ${branch.name} of ${target}`,
    facts: [
      ...destinationFacts(destination),
      { name: 'Branch', value: `${printable(branch.database)}, ${sizeText(branch.size_bytes)}` },
      ...(destination.exists ? [{ name: 'Previous', value: previousText(previous) }] : []),
      ...undoFacts(destination.exists ? `tool undo ${target}` : null),
    ],
    steps: plan.steps,
    warnings: warningsOf(plan),
    consequence: destination.exists
      ? `Clients of ${database} and ${branch.database} will be disconnected. tool undo ${target} reverts the switch.`
      : `${database} does not exist yet. Clients of ${branch.database} will be disconnected.`,
    ask: `Switch database "${database}" on ${destination.host} to branch "${branch.name}"?`,
    go: `Switch to ${branch.name}`,
    typed: typedName(plan),
  };
}

function previousText(previous: string | null): string {
  return previous === null ? 'kept as the undo copy' : `branch ${printable(previous)}, under its own name`;
}

export function branchCreateSummary({ target, branches }: BranchCreateResult): RunSummary {
  const created = branches.filter((branch) => branch.created).map(({ name }) => printable(name));
  const line = created.length === 0 ? `The branches of ${target} exist` : `Created ${created.join(', ')} of ${target}`;
  const title = created.length === 0 ? 'No new branch' : `${created.join(', ')} created`;
  return summaryOf(line, { card: { title, facts: [] }, details: branches.map(({ url }) => url) });
}

export function branchResetSummary({ target, branches, undo_database }: BranchResetResult): RunSummary {
  const times = branches.map(({ swap_ms }) => swap_ms ?? 0);
  const names = branches.map(({ name }) => printable(name)).join(', ');
  const longest = Math.max(0, ...times);
  return summaryOf(`Reset ${names} of ${target}`, {
    card: { title: `${names} reset`, facts: [] },
    ...unavailableFor(branches.length > 1 ? 'The slowest of them' : names, longest),
    undo: undo_database === null ? null : { database: 'destination', command: `tool undo ${target}` },
  });
}

export function branchDropSummary({ target, dropped }: BranchDropResult): RunSummary {
  return summaryOf(`Dropped ${dropped.map(({ name }) => printable(name)).join(', ') || 'no branch'} of ${target}`);
}

export function branchPruneSummary({ dropped }: BranchPruneResult, { targets }: BranchPrunePlan): RunSummary {
  const kept = targets.flatMap((target) => target.kept);
  const line =
    dropped.length === 0 ? 'No branch was dropped' : `Dropped ${dropped.map(({ name }) => printable(name)).join(', ')}`;
  return summaryOf(`${line}, kept ${kept.length}`, {
    details: kept.map(({ name, why }) => `Kept ${printable(name)}: ${printable(why)}`),
  });
}

export function branchSwitchSummary(result: BranchSwitchResult): RunSummary {
  const { target, destination, branch, previous, swap_ms, undo_database } = result;
  const reverts = previous !== null || undo_database !== null;
  return summaryOf(`Switched ${destination} to branch ${printable(branch)}`, {
    card: { title: `Switched to branch ${printable(branch)}`, facts: [] },
    ...unavailableFor('The destination', swap_ms),
    undo: reverts ? { database: 'destination', command: `tool undo ${target}` } : null,
  });
}

function databaseFacts(branches: { name: string; database: string }[]): Fact[] {
  return branches.map(({ name, database }) => ({
    name: 'Branch',
    value: `${printable(name)}: ${printable(database)}`,
    tone: 'strong',
  }));
}

function clientsFacts(branches: BranchRow[]): Fact[] {
  const clients = branches.reduce((sum, branch) => sum + branch.clients, 0);
  return clients === 0 ? [] : [{ name: 'Clients', value: `${formatNumberOf(clients, 'session')} will be ended` }];
}

/** A branch on another machine is confirmed by its name, as a destination is. */
function typedBranch({
  destination,
  branches,
  unverified_sources,
}: BranchDropPlan | BranchResetPlan): TypedName | null {
  const [first] = branches;
  return first ? typedName({ destination: { ...destination, database: first.name }, unverified_sources }) : null;
}

function countOf(branches: BranchRow[]): string {
  return formatNumberOf(branches.length, 'branch', 'branches');
}

function needsText(bytes: number | null): string {
  return `${bytes === null ? 'unknown' : formatBytes(bytes)} needed`;
}

function sizeText(bytes: number | null): string {
  return bytes === null ? 'unknown' : formatBytes(bytes);
}

function ageText(at: string, now: Date): string {
  return formatAge(now.getTime() - Date.parse(at));
}

function lastUseText({ clients, last_used_at }: BranchRow, now: Date): string {
  if (clients > 0) return `in use (${clients})`;
  return last_used_at === null ? 'unknown' : ageText(last_used_at, now);
}
