import { branchIsCurrent, findBranch } from '../../../engines/shared/branches.ts';
import type { BranchDatabase, BranchDropPlan, BranchDropResult, BranchRow } from '../../../results/branch-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { cpusFor } from '../../cpus-for.ts';
import { recorded } from '../../history/recorded.ts';
import { sumOf } from '../../load/copies-result.ts';
import type { Planned } from '../../planned.ts';
import {
  assertBranchesNotSources,
  assertOwnBranches,
  assertPlanCurrent,
  assertUnprotected,
  type BranchesRequest,
  branchRows,
  forEachBranch,
  type OpenedBranches,
  openBranches,
} from '../open-branches.ts';

export interface BranchDropRequest extends BranchesRequest {
  names: string[];
  /** Also drops protected branches. */
  unprotect?: boolean | undefined;
}

export type PlannedBranchDrop = Planned<BranchDropRequest, BranchDropPlan>;

/** Changes nothing. Throws for a branch that does not exist, or is the destination at present. */
export async function planBranchDrop(given: Context, request: BranchDropRequest): Promise<PlannedBranchDrop> {
  const opened = await openBranches(given, request);
  const { database } = opened;
  const { url } = database;
  const found = await database.branches.list();
  const names = [...new Set(request.names)];
  const branches = names.map((name) => findBranch(found, { name, url }));
  assertOwnBranches(branches, request, opened);
  assertUnprotected(branches, request);
  const current = branches.find((branch) => branch.current);
  if (current) throw branchIsCurrent(current.name, url);
  const databases = branches.map(({ database }) => database);
  const unverified_sources = await assertBranchesNotSources(opened, request.target, databases);
  const rows = await branchRows(opened, branches);
  const plan: BranchDropPlan = {
    target: request.target,
    destination: await database.connect.inspect(),
    branches: rows,
    frees_bytes: sumOf(rows.map(({ own_bytes }) => own_bytes)),
    unverified_sources,
  };
  return { request, plan, planned_at: opened.context.clock().toISOString() };
}

/** Steps: `branch NAME`. */
export function applyBranchDrop(given: Context, planned: BranchDropRun): Promise<BranchDropResult> {
  const { target, branches } = planned.plan;
  const known = { target, branches: branches.map(({ name }) => name) };
  return recorded(given, { operation: 'branch drop', ...known }, { work: () => perform(given, planned) });
}

type BranchDropRun = Pick<PlannedBranchDrop, 'plan'> & { request: BranchesRequest };

async function perform(given: Context, { request, plan }: BranchDropRun): Promise<BranchDropResult> {
  const opened = await openBranches(given, request);
  assertPlanCurrent(opened, plan, {
    planned: plan.branches,
    present: await opened.database.branches.list(),
  });
  return { target: plan.target, dropped: await dropBranches(opened, plan) };
}

async function dropBranches(
  { context, database: opened }: OpenedBranches,
  { target, branches }: { target: string; branches: BranchRow[] },
): Promise<BranchDatabase[]> {
  const dropped = await forEachBranch(context, branches, {
    done: 'Dropped',
    atOnce: cpusFor(context, target),
    work: async ({ name, database }) => ((await opened.branches.drop(name)) ? [{ name, database }] : []),
  });
  return dropped.flat();
}
