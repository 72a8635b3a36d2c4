import type { BackPlan, BackResult } from '../../results/saves/save-results.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { shell } from '../../text/shell-word.ts';
import { openSeparateBranch } from '../branch/open-branch.ts';
import { applyBranchReset, type PlannedBranchReset, planBranchReset } from '../branch/reset/reset.ts';
import { chooseDestination, openDestination } from '../load/destination.ts';
import { applyLoad, planLoad } from '../load/load.ts';
import type { PlannedLoad } from '../load/planned-load.ts';
import type { Planned } from '../planned.ts';
import { applyReset, type PlannedReset, planReset } from '../reset/reset.ts';
import { findSave, type SavesOf } from '../save/saves.ts';
import { applyUndo, type PlannedUndo, planUndo } from '../undo/undo.ts';
import { lastLoad } from './last-load.ts';
import { preparePart } from './part.ts';

export interface BackRequest extends SavesOf {
  /** Name or index of a save, `load` (a reset) or `previous` (an undo). Default: the newest save. */
  point?: string;
  /** Patterns of tables: only their rows return, in the present destination. */
  tables?: string[] | undefined;
  /** Primary keys of one table: only these rows return. */
  rows?: string[] | undefined;
  /** `false` keeps no undo copy. Default `true`. */
  undo?: boolean;
  /** `false` makes no automatic save. Default: `saves.before`. */
  autosave?: boolean;
}

export interface PlannedBack extends Planned<BackRequest, BackPlan> {
  load: PlannedLoad | null;
  reset: PlannedReset | null;
  undo: PlannedUndo | null;
  branchReset: PlannedBranchReset | null;
}

const NO_OPERATION = { load: null, reset: null, undo: null, branchReset: null };

/** Plans the reset, the undo or the load that returns to the point. Changes nothing. */
export async function planBack(context: Context, request: BackRequest): Promise<PlannedBack> {
  const { target, branch, point, tables, rows, undo: keepsUndo = true, autosave = true } = request;
  if (branch !== undefined && (tables || rows)) throw noPartOfBranch(target);
  if (branch !== undefined) return planOfBranch(context, { ...request, branch });
  const planned = { request, planned_at: context.clock().toISOString(), ...NO_OPERATION };
  const loading = { target, undo: keepsUndo, autosave };
  if (tables) {
    const { load, ...part } = await preparePart(context, { ...loading, point, tables, rows });
    return { ...planned, plan: { target, ...part, load: load.plan }, load };
  }
  if (rows) throw rowsOfNoTable(target);
  if (point === 'load') {
    const way = await planReturnToLoad(context, loading);
    if (typeof way !== 'string') return { ...planned, plan: { target, point, reset: way.plan }, reset: way };
    const load = await planLoad(context, { ...loading, snapshot: way });
    return { ...planned, plan: { target, point, load: load.plan }, load };
  }
  if (point === 'previous') {
    const undo = await planUndo(context, { target });
    return { ...planned, plan: { target, point, undo: undo.plan }, undo };
  }
  const { row } = await findSave(context, { target, save: point });
  const load = await planLoad(context, { ...loading, save: row.id, afterLoad: false });
  return { ...planned, plan: { target, point: row.name, load: load.plan }, load };
}

/** Plans the reset of a branch to its base copy, or the load of one of its saves. Changes nothing. */
async function planOfBranch(context: Context, request: BackRequest & { branch: string }): Promise<PlannedBack> {
  const { target, branch, owner, point, autosave = true } = request;
  const planned = { request, planned_at: context.clock().toISOString(), ...NO_OPERATION };
  // A branch of others is refused whatever saves it has.
  await openSeparateBranch(context, { target, branch, owner });
  if (point === 'previous') throw noPrevious(target, branch);
  if (point === 'load') {
    const branchReset = await planBranchReset(context, { target, name: branch, owner, autosave });
    return { ...planned, plan: { target, branch, point, branch_reset: branchReset.plan }, branchReset };
  }
  const { row } = await findSave(context, { target, branch, owner, save: point });
  const of = { target, branch, owner };
  const load = await planLoad(context, { ...of, save: row.id, afterLoad: false, undo: false, autosave });
  return { ...planned, plan: { target, branch, point: row.name, load: load.plan }, load };
}

function noPrevious(target: string, branch: string): UserError {
  return new UserError('nothing_to_undo', `Branch "${branch}" of "${target}" has no replaced database to return to`, {
    hint: `Its saves are the points to return to: ${shell`tool back ${target} --branch ${branch} --list`}`,
  });
}

/** Without a usable base copy the last snapshot is loaded again: resolves with its id. */
async function planReturnToLoad(
  context: Context,
  request: Pick<BackRequest, 'target' | 'undo' | 'autosave'>,
): Promise<PlannedReset | string> {
  try {
    return await planReset(context, request);
  } catch (error) {
    if (!(error instanceof UserError && WITHOUT_BASE.has(error.code))) throw error;
    const { url } = openDestination(context, chooseDestination(context, request));
    const last = await lastLoad(context, { target: request.target, url });
    if (!last) throw error;
    return last.snapshot;
  }
}

function noPartOfBranch(target: string): UserError {
  return new UserError('usage', '--table and --branch exclude each other', {
    exit: EXIT.usage,
    hint: `A branch returns whole: ${shell`tool back ${target} --branch NAME`}`,
  });
}

function rowsOfNoTable(target: string): UserError {
  return new UserError('flag_needs_flag', '--rows requires --table', {
    hint: `For example: ${shell`tool back ${target} load --table public.orders --rows 17,18`}`,
  });
}

const WITHOUT_BASE = new Set(['no_base_copy', 'base_copy_outdated', 'base_copies_unsupported']);

export async function applyBack(context: Context, planned: PlannedBack): Promise<BackResult> {
  const { plan, load, reset, undo, branchReset } = planned;
  const { target, branch, point } = plan;
  const to = { target, ...(branch !== undefined && { branch }), point };
  if (branchReset) return { ...to, branch_reset: await applyBranchReset(context, branchReset) };
  if (reset) return { ...to, reset: await applyReset(context, reset) };
  if (undo) return { ...to, load: await applyUndo(context, undo) };
  if (!load) throw new Error('the plan is of no point');
  return { ...to, load: await applyLoad(context, load) };
}
