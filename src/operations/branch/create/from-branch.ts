import type { Branch } from '../../../engines/facets/copies.ts';
import type { BranchDatabase } from '../../../results/branch-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { applySnapshot, planSnapshot } from '../../load/load-snapshot.ts';
import type { BranchToCreate, LoadRequest } from '../../load/planned-load.ts';
import { applySave, type PlannedSave, planSave } from '../../save/save.ts';
import { openSeparateBranch } from '../open-branch.ts';
import { forEachBranch } from '../open-branches.ts';

export interface FromBranch {
  target: string;
  /** The branch whose present state is taken. */
  from: string;
  /** The agent that makes the request: only from branches of its own. */
  owner?: string | undefined;
}

export interface PlannedOrigin {
  branch: Branch;
  save: PlannedSave;
}

/** Prepares the save of a branch that others are made from: no session of it ends. Refuses what the caller may not have. */
export async function prepareOrigin(context: Context, { target, from, owner }: FromBranch): Promise<PlannedOrigin> {
  const save = await planSave(context, { target, branch: from, owner });
  const { branch } = await openSeparateBranch(context, { target, branch: from, owner });
  return { branch, save };
}

export type NewFromBranch = Omit<BranchToCreate, 'database' | 'origin' | 'inheritsFrom' | 'createdAt'>;

/** Stores the present state of a branch as a save, and creates branches with it; each is complete or absent. */
export async function createFromBranch(
  context: Context,
  { target, from: name, owner }: FromBranch,
  { origin, branches, own }: { origin: PlannedOrigin; branches: BranchDatabase[]; own: NewFromBranch },
): Promise<void> {
  const { save } = await applySave(context, origin.save);
  const creation = { ...own, origin: { branch: name, save: save.id }, inheritsFrom: origin.branch.database };
  // Each restore uses all processors.
  await forEachBranch(context, branches, {
    done: 'Created',
    atOnce: 1,
    work: ({ name: branch, database }) =>
      restoreSave(context, {
        ...{ target, owner, branch, save: save.id, saveOf: name },
        creates: { ...creation, database, createdAt: context.clock().toISOString() },
      }),
  });
}

/** Restores a save into a branch of the same or another name, without an automatic save. Steps: those of a load. */
export async function restoreSave(context: Context, request: LoadRequest): Promise<{ swapMs: number | null }> {
  const planned = await planSnapshot(context, { ...request, afterLoad: false, undo: false });
  const { plan, restore } = planned;
  if (!restore) throw new Error('a save without a plan');
  for (const { code, message } of plan.warnings) context.report({ event: 'warning', code, message });
  const { swap_ms: swapMs } = await applySnapshot(context, { ...planned, restore }, {});
  return { swapMs };
}
