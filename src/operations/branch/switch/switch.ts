import { findBranch } from '../../../engines/shared/branches.ts';
import type { BranchSwitchPlan, BranchSwitchResult } from '../../../results/branch-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { recorded } from '../../history/recorded.ts';
import type { Planned } from '../../planned.ts';
import { applyAutomaticSaves, type LosingOperation, withAutomaticSaves } from '../../save/automatic-save.ts';
import { statingOutcome } from '../../stating-outcome.ts';
import {
  assertBranchesNotSources,
  assertNotCurrent,
  assertPlanCurrent,
  type BranchesRequest,
  branchRows,
  type OpenedBranches,
  openBranches,
} from '../open-branches.ts';

export interface BranchSwitchRequest extends BranchesRequest {
  name: string;
  /** `false` makes no automatic save. Default: `saves.before`. */
  autosave?: boolean;
}

export type PlannedBranchSwitch = Planned<BranchSwitchRequest, BranchSwitchPlan>;

/** Changes nothing. */
export async function planBranchSwitch(given: Context, request: BranchSwitchRequest): Promise<PlannedBranchSwitch> {
  const { target, name } = request;
  const opened = await openBranches(given, request);
  const { url, branches, connect } = opened.database;
  const found = await branches.list();
  const branch = findBranch(found, { name, url });
  assertNotCurrent([branch], { url });
  const unverified_sources = await assertBranchesNotSources(opened, request.target, [branch.database]);
  const [row] = await branchRows(opened, [branch]);
  if (!row) throw new Error('a branch without a row');
  const previous = found.find(({ current }) => current)?.name ?? null;
  const destination = await connect.inspect();
  const switched: BranchSwitchPlan = {
    ...{ target, destination, branch: row, previous, unverified_sources },
    steps: [`Switch ${destination.database} to ${branch.database}`],
  };
  const losing = losingSwitch(opened, request, switched);
  const plan = losing ? await withAutomaticSaves(opened.context, losing, switched) : switched;
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

/** The switch as one that loses a state; `null` where a branch leaves under its own name. */
function losingSwitch(
  { context, database }: OpenedBranches,
  { target, destdb, autosave = true }: BranchSwitchRequest,
  { destination, previous }: BranchSwitchPlan,
): LosingOperation | null {
  if (!autosave || destdb !== undefined || previous !== null || !destination.exists) return null;
  const before = context.agent ? 'agent' : 'branch_switch';
  return { target, database, sizeBytes: destination.size_bytes, before, keeps: true, dropsUndoCopy: true };
}

async function perform(given: Context, planned: PlannedBranchSwitch): Promise<BranchSwitchResult> {
  const { request, plan } = planned;
  const opened = await openBranches(given, request);
  const { url, branches } = opened.database;
  assertPlanCurrent(opened, plan, { planned: [plan.branch], present: await branches.list() });
  for (const { code, message } of plan.warnings ?? []) given.report({ event: 'warning', code, message });
  const losing = losingSwitch(opened, request, plan);
  if (losing) await applyAutomaticSaves(opened.context, losing);
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
