import type { Branch } from '../../../engines/facets/copies.ts';
import { openDatabase } from '../../../engines/open-database.ts';
import { closedBase } from '../../../engines/shared/base-copies.ts';
import { findBranch } from '../../../engines/shared/branches.ts';
import type { BranchResetPlan, BranchResetResult } from '../../../results/branch-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { shell } from '../../../text/shell-word.ts';
import { assertBaseOfTarget } from '../../back/last-load.ts';
import { cpusFor } from '../../cpus-for.ts';
import { recorded } from '../../history/recorded.ts';
import { sumOf, toDatabaseCopy } from '../../load/copies-result.ts';
import { type Planned, planOutdated } from '../../planned.ts';
import { applyAutomaticSaves, type LosingOperation, withAutomaticSaves } from '../../save/automatic-save.ts';
import { savedBranch } from '../../save/save.ts';
import { findLoadableSave } from '../../save/saves.ts';
import { assertNoOriginalData } from '../../snapshots/sanitized-only.ts';
import { findTarget } from '../../targets/find-target.ts';
import { isNumbered } from '../branch-database.ts';
import { restoreSave } from '../create/from-branch.ts';
import {
  assertBranchesNotSources,
  assertOwnBranches,
  assertPlanCurrent,
  assertUnprotected,
  type BranchesRequest,
  branchRows,
  copiedHow,
  forEachBranch,
  type OpenedBranches,
  openBranches,
} from '../open-branches.ts';

export interface BranchResetRequest extends BranchesRequest {
  /** A branch, or with `all` the `NAME_1`, `NAME_2`, … that `--count` has made. */
  name: string;
  all?: boolean | undefined;
  /** Also resets protected branches. */
  unprotect?: boolean | undefined;
  /** `false` makes no automatic save. Default: `saves.before`, of an agent. */
  autosave?: boolean;
  /** Replaces the databases even where a reset in place is possible. */
  copy?: boolean;
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
  const numbered = numberedOf(found.branches);
  const branches = numbered.length > 0 ? numbered : [findBranch(found.branches, { name, url })];
  const base = branches.every(({ origin }) => origin) ? null : closedBase(found, url);
  if (base) {
    await assertBaseOfTarget(context, { target, url, snapshot: base.snapshot });
    await assertNoOriginalData(context, target, base.snapshot);
  }
  assertOwnBranches(branches, request, opened);
  assertUnprotected(branches, request);
  await assertOrigins(opened, request, branches);
  const databases = branches.map(({ database }) => database);
  const unverified_sources = await assertBranchesNotSources(opened, request.target, databases);
  const plan: BranchResetPlan = {
    target,
    destination: found.destination,
    base: base && toDatabaseCopy(base),
    branches: await branchRows(opened, branches),
    needs_bytes: base ? found.needsBytes : sumOf(branches.map(({ sizeBytes }) => sizeBytes)),
    unverified_sources,
    steps: branches.map((branch) => {
      if (branch.origin)
        return `Replace ${branch.database} by the state of branch ${branch.origin.branch} that it has been made from`;
      const copy = `Replace ${branch.database} by a copy of ${base?.name}${copiedHow(database.engine, found)}`;
      const mayBeInPlace = !request.copy && !branch.current;
      return mayBeInPlace ? `${copy}, unless few rows have changed: these are exchanged in place` : copy;
    }),
  };
  const losing = losingReset(opened, request, branches);
  const saving = losing ? await withAutomaticSaves(context, losing, plan) : plan;
  return { request, plan: saving, planned_at: context.clock().toISOString() };
}

/** An agent's reset as one that loses the state of its branch; people reset for tests, where each millisecond counts. */
function losingReset(
  { context, database: { engine, url } }: OpenedBranches,
  { target, owner, autosave = true }: BranchResetRequest,
  branches: Branch[],
): LosingOperation | null {
  const [branch] = branches;
  if (!autosave || !context.agent || !branch) return null;
  return {
    ...{ target, before: 'agent', keeps: false, dropsUndoCopy: false },
    ...{ branch: savedBranch(branch, owner), sizeBytes: branch.sizeBytes },
    database: openDatabase(context, engine.withDatabase(url, branch.database)),
  };
}

/** Each branch is the old one or the new one at every moment. Steps: `branch NAME`. */
export function applyBranchReset(given: Context, planned: PlannedBranchReset): Promise<BranchResetResult> {
  const { target, branches, destination } = planned.plan;
  const known = {
    ...{ target, snapshot: snapshotOf(planned.plan), branches: branches.map(({ name }) => name) },
    // The content of the destination is another one then.
    ...(branches.some(({ current }) => current) && { to: destination.url }),
  };
  return recorded(given, { operation: 'branch reset', ...known }, { work: () => perform(given, planned) });
}

function snapshotOf({ base, branches }: BranchResetPlan): string | null {
  return base ? base.snapshot : (branches[0]?.snapshot ?? null);
}

async function perform(given: Context, planned: PlannedBranchReset): Promise<BranchResetResult> {
  const { request, plan } = planned;
  const opened = await openBranches(given, request);
  const { context, database } = opened;
  const present = await database.branches.list();
  assertPlanCurrent(opened, plan, { planned: plan.branches, present });
  for (const { code, message } of plan.warnings ?? []) given.report({ event: 'warning', code, message });
  const names = plan.branches.map(({ name }) => name);
  const branches = present.filter(({ name }) => names.includes(name));
  assertOwnBranches(branches, request, opened);
  const losing = losingReset(opened, request, branches);
  if (losing) await applyAutomaticSaves(context, losing);
  const { role } = findTarget(context.configuration, plan.target).snapshot ?? {};
  const accept = ({ snapshot, loadedAt }: { snapshot: string | null; loadedAt: string }): void => {
    if (snapshot === plan.base?.snapshot && loadedAt === plan.base.loaded_at) return;
    throw planOutdated(`The base copy of ${database.url.display} was replaced`);
  };
  const reset = await forEachBranch(context, plan.branches, {
    done: 'Reset',
    atOnce: cpusFor(context, plan.target),
    work: async (branch) => {
      const { name, created_at: createdAt, origin } = branch;
      if (origin) {
        const { swapMs } = await resetToOrigin(context, request, { name, origin });
        const database = branch.database;
        return { name, database, way: 'restore', way_reason: null, swap_ms: swapMs, undoDatabase: null } as const;
      }
      const { copy } = request;
      const { swapMs, undoDatabase, inPlace } = await database.branches.reset({ name, createdAt, role, accept, copy });
      const way = typeof inPlace === 'string' ? 'copy' : 'in_place';
      const way_reason = typeof inPlace === 'string' ? inPlace : null;
      return { name, database: branch.database, way, way_reason, swap_ms: swapMs, undoDatabase } as const;
    },
  });
  return {
    target: plan.target,
    snapshot: snapshotOf(plan),
    branches: reset.map(({ undoDatabase: _, ...branch }) => branch),
    undo_database: reset.find(({ undoDatabase }) => undoDatabase !== null)?.undoDatabase ?? null,
  };
}

interface OfOrigin {
  target: string;
  owner?: string | undefined;
}

/** Finds the saves that branches were made from, to which a reset returns them. Throws where one is gone. */
async function assertOrigins(
  { context }: Pick<OpenedBranches, 'context'>,
  { target, owner }: OfOrigin,
  branches: Branch[],
): Promise<void> {
  for (const { name, origin } of branches) {
    if (!origin) continue;
    await findLoadableSave(context, { target, id: origin.save, branch: origin.branch, owner }).catch((error) => {
      throw error instanceof UserError && error.code === 'save_missing' ? originGone(target, name, error) : error;
    });
  }
}

/** Returns a branch to the save that it was made from. */
function resetToOrigin(
  context: Context,
  { target, owner }: OfOrigin,
  { name, origin }: { name: string; origin: NonNullable<Branch['origin']> },
): Promise<{ swapMs: number | null }> {
  return restoreSave(context, { target, owner, branch: name, save: origin.save, saveOf: origin.branch });
}

function originGone(target: string, name: string, cause: UserError): UserError {
  return new UserError('save_missing', `This machine no longer has the save that branch "${name}" was made from`, {
    hint: `Return to a save of the branch (${shell`tool back ${target} --branch ${name}`}), or drop it and create it again`,
    cause,
  });
}
