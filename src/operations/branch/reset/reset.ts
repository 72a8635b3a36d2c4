import type { Branch } from '../../../engines/facets/copies.ts';
import { closedBase } from '../../../engines/shared/base-copies.ts';
import { findBranch } from '../../../engines/shared/branches.ts';
import type { BranchResetPlan, BranchResetResult } from '../../../results/branch-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { cpusFor } from '../../cpus-for.ts';
import { findTarget } from '../../find-target.ts';
import { recorded } from '../../history/recorded.ts';
import { databaseCopy } from '../../load/base-copies.ts';
import { type Planned, planOutdated } from '../../planned.ts';
import { assertNoOriginalData } from '../../snapshots/sanitized-only.ts';
import { isNumbered } from '../branch-database.ts';
import {
  assertBranchesNotSources,
  assertOwnBranches,
  assertPlanCurrent,
  type BranchesRequest,
  branchRows,
  copiedHow,
  forEachBranch,
  openBranches,
} from '../open-branches.ts';

export interface BranchResetRequest extends BranchesRequest {
  /** A branch, or with `all` the `NAME_1`, `NAME_2`, … that `--count` has made. */
  name: string;
  all?: boolean | undefined;
}

export type PlannedBranchReset = Planned<BranchResetRequest, BranchResetPlan>;

/** Changes nothing. Throws where there is no base copy. */
export async function planBranchReset(given: Context, request: BranchResetRequest): Promise<PlannedBranchReset> {
  const { target, name, all = false } = request;
  const opened = await openBranches(given, request);
  const { context, database } = opened;
  const { url } = database;
  const numberedOf = (present: Branch[]): Branch[] =>
    all ? present.filter((branch) => isNumbered(branch.name, name)) : [];
  // Each old branch goes when its copy is complete.
  const copies = (present: Branch[]): number =>
    Math.min(Math.max(numberedOf(present).length, 1), cpusFor(context, target));
  const found = await database.branches.plan(copies);
  const base = closedBase(found, url);
  await assertNoOriginalData(context, target, base.snapshot);
  const numbered = numberedOf(found.branches);
  const branches = numbered.length > 0 ? numbered : [findBranch(found.branches, { name, url })];
  assertOwnBranches(branches, request, opened);
  const databases = branches.map(({ database }) => database);
  const unverified_sources = await assertBranchesNotSources(opened, request, databases);
  const plan: BranchResetPlan = {
    target,
    destination: found.destination,
    base: databaseCopy(base),
    branches: await branchRows(opened, branches),
    needs_bytes: found.needsBytes,
    unverified_sources,
    steps: branches.map(
      (branch) => `Replace ${branch.database} by a copy of ${base.name}${copiedHow(database.engine, found)}`,
    ),
  };
  return { request, plan, planned_at: context.clock().toISOString() };
}

/** Each branch is the old one or the new one at every moment. Steps: `branch NAME`. */
export function applyBranchReset(given: Context, planned: PlannedBranchReset): Promise<BranchResetResult> {
  const { target, branches, base } = planned.plan;
  const known = { target, snapshot: base.snapshot, branches: branches.map(({ name }) => name) };
  return recorded(given, { operation: 'branch reset', ...known }, { work: () => perform(given, planned) });
}

async function perform(given: Context, planned: PlannedBranchReset): Promise<BranchResetResult> {
  const { request, plan } = planned;
  const opened = await openBranches(given, request);
  const { context, database } = opened;
  assertPlanCurrent(opened, plan, { planned: plan.branches, present: await database.branches.list() });
  const { role } = findTarget(context.configuration, plan.target).snapshot ?? {};
  const accept = ({ snapshot, loadedAt }: { snapshot: string | null; loadedAt: string }): void => {
    if (snapshot === plan.base.snapshot && loadedAt === plan.base.loaded_at) return;
    throw planOutdated(`The base copy of ${database.url.display} was replaced`);
  };
  const reset = await forEachBranch(context, plan.branches, {
    done: 'Reset',
    atOnce: cpusFor(context, plan.target),
    work: async (branch) => {
      const { name } = branch;
      const { swapMs, undoDatabase } = await database.branches.reset({ name, role, accept });
      return { name, database: branch.database, swap_ms: swapMs, undoDatabase };
    },
  });
  return {
    target: plan.target,
    snapshot: plan.base.snapshot,
    branches: reset.map(({ undoDatabase: _, ...branch }) => branch),
    undo_database: reset.find(({ undoDatabase }) => undoDatabase !== null)?.undoDatabase ?? null,
  };
}
