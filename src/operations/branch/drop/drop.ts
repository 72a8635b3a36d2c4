import { findBranch } from '../../../engines/shared/branches.ts';
import type { BranchDropPlan, BranchDropResult } from '../../../results/branch-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { cpusFor } from '../../cpus-for.ts';
import { recorded } from '../../history/recorded.ts';
import { sumOf } from '../../load/copies-result.ts';
import type { Planned } from '../../planned.ts';
import {
  assertBranchesNotSources,
  assertNotCurrent,
  assertOwnBranches,
  assertPlanCurrent,
  assertUnprotected,
  type BranchesRequest,
  branchRows,
  forEachBranch,
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
  assertNotCurrent(branches, database);
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
  const { target, branches } = plan;
  const own = opened.database.branches;
  assertPlanCurrent(opened, plan, { planned: branches, present: await own.list() });
  const dropped = await forEachBranch(opened.context, branches, {
    done: 'Dropped',
    atOnce: cpusFor(opened.context, target),
    work: async ({ name, database }) => ((await own.drop(name)) ? [{ name, database }] : []),
  });
  return { target, dropped: dropped.flat() };
}
