import { branchIsCurrent, findBranch } from '../../../engines/shared/branches.ts';
import type { BranchSwitchPlan, BranchSwitchResult } from '../../../results/branch-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { recorded } from '../../history/recorded.ts';
import type { Planned } from '../../planned.ts';
import { statingOutcome } from '../../stating-outcome.ts';
import {
  assertBranchesNotSources,
  assertPlanCurrent,
  type BranchesRequest,
  branchRows,
  openBranches,
} from '../open-branches.ts';

export interface BranchSwitchRequest extends BranchesRequest {
  name: string;
}

export type PlannedBranchSwitch = Planned<BranchSwitchRequest, BranchSwitchPlan>;

/** Changes nothing. */
export async function planBranchSwitch(given: Context, request: BranchSwitchRequest): Promise<PlannedBranchSwitch> {
  const { target, name } = request;
  const opened = await openBranches(given, request);
  const { url, branches, connect } = opened.database;
  const found = await branches.list();
  const branch = findBranch(found, { name, url });
  if (branch.current) throw branchIsCurrent(name, url);
  const unverified_sources = await assertBranchesNotSources(opened, request.target, [branch.database]);
  const [row] = await branchRows(opened, [branch]);
  if (!row) throw new Error('a branch without a row');
  const previous = found.find(({ current }) => current)?.name ?? null;
  const destination = await connect.inspect();
  const plan: BranchSwitchPlan = {
    ...{ target, destination, branch: row, previous, unverified_sources },
    steps: [`Switch ${destination.database} to ${branch.database}`],
  };
  return { request, plan, planned_at: opened.context.clock().toISOString() };
}

/** Steps: `swap`. */
export function applyBranchSwitch(given: Context, planned: PlannedBranchSwitch): Promise<BranchSwitchResult> {
  const { target, branch, destination } = planned.plan;
  return recorded(
    given,
    { operation: 'branch switch', target, snapshot: branch.snapshot, branches: [branch.name] },
    {
      work: () => statingOutcome(given, { target, destination, undo: true }, (context) => perform(context, planned)),
      facts: ({ destination, swap_ms }) => ({ to: destination, swap_ms }),
    },
  );
}

async function perform(given: Context, planned: PlannedBranchSwitch): Promise<BranchSwitchResult> {
  const { request, plan } = planned;
  const opened = await openBranches(given, request);
  const { url, branches } = opened.database;
  assertPlanCurrent(opened, plan, { planned: [plan.branch], present: await branches.list() });
  const { swapMs, undoDatabase, previous } = await branches.switchTo(request.name);
  return {
    target: plan.target,
    destination: url.display,
    branch: request.name,
    previous,
    swap_ms: swapMs,
    undo_database: undoDatabase,
  };
}
