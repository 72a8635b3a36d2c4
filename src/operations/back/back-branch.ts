import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { openSeparateBranch } from '../branch/open-branch.ts';
import { planBranchReset } from '../branch/reset/reset.ts';
import { planLoad } from '../load/load.ts';
import { findSave } from '../save/saves.ts';
import type { BackRequest, PlannedBack } from './back.ts';

/** Plans the reset of a branch to its base copy, or the load of one of its saves. Changes nothing. */
export async function branchBack(context: Context, request: BackRequest & { branch: string }): Promise<PlannedBack> {
  const { target, branch, owner, point, cpus, autosave = true } = request;
  const nothing = { load: null, reset: null, undo: null, branchReset: null };
  const planned = { request, planned_at: context.clock().toISOString(), ...nothing };
  // A branch of others is refused whatever saves it has.
  await openSeparateBranch(context, { target, branch, owner });
  if (point === 'previous') throw noPrevious(target, branch);
  if (point === 'load') {
    const branchReset = await planBranchReset(context, { target, name: branch, owner, autosave });
    return { ...planned, plan: { target, branch, point, branch_reset: branchReset.plan }, branchReset };
  }
  const { row } = await findSave(context, { target, branch, owner, save: point });
  const load = await planLoad(context, {
    ...{ target, branch, owner, save: row.id, afterLoad: false, undo: false, autosave },
    ...(cpus !== undefined && { cpus }),
  });
  return { ...planned, plan: { target, branch, point: row.name, load: load.plan }, load };
}

function noPrevious(target: string, branch: string): UserError {
  return new UserError('nothing_to_undo', `Branch "${branch}" of "${target}" has no replaced database to return to`, {
    hint: `Its saves are the points to return to: tool back ${target} --branch ${branch} --list`,
  });
}
