import type { BackPlan, BackResult } from '../../results/save-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { chooseDestination, openDestination } from '../load/destination.ts';
import { applyLoad, planLoad } from '../load/load.ts';
import type { PlannedLoad } from '../load/planned-load.ts';
import type { Planned } from '../planned.ts';
import { applyReset, type PlannedReset, planReset } from '../reset/reset.ts';
import { findSave } from '../save/saves.ts';
import { applyUndo, type PlannedUndo, planUndo } from '../undo/undo.ts';
import { lastLoad } from './last-load.ts';
import { preparePart } from './part.ts';

export interface BackRequest {
  target: string;
  /** Name or index of a save, `load` (a reset) or `previous` (an undo). Default: the newest save. */
  point?: string;
  /** Patterns of tables: only their rows return, in the present destination. */
  tables?: string[] | undefined;
  /** Primary keys of one table: only these rows return. */
  rows?: string[] | undefined;
  /** `false` keeps no undo copy. Default `true`. */
  undo?: boolean;
  cpus?: number;
  /** `false` makes no automatic save. Default: `saves.before`. */
  autosave?: boolean;
}

export interface PlannedBack extends Planned<BackRequest, BackPlan> {
  load: PlannedLoad | null;
  reset: PlannedReset | null;
  undo: PlannedUndo | null;
}

/** Plans the reset, the undo or the load that returns to the point. Changes nothing. */
export async function planBack(context: Context, request: BackRequest): Promise<PlannedBack> {
  const { target, point, tables, rows, undo: keepsUndo = true, cpus, autosave = true } = request;
  const planned = { request, planned_at: context.clock().toISOString(), load: null, reset: null, undo: null };
  const loading = { target, undo: keepsUndo, autosave, ...(cpus !== undefined && { cpus }) };
  if (tables) {
    const { load, ...part } = await preparePart(context, { ...loading, point, tables, rows });
    return { ...planned, plan: { target, ...part, load: load.plan }, load };
  }
  if (rows) throw rowsOfNoTable(target);
  if (point === 'load') {
    const way = await planReturnToLoad(context, { target, undo: keepsUndo, autosave });
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
    const last = lastLoad(context, { target: request.target, url: url.display });
    if (!last) throw error;
    return last.snapshot;
  }
}

function rowsOfNoTable(target: string): UserError {
  return new UserError('flag_needs_flag', '--rows requires --table', {
    hint: `For example: tool back ${target} load --table public.orders --rows 17,18`,
  });
}

const WITHOUT_BASE = new Set(['no_base_copy', 'base_copy_outdated', 'base_copies_unsupported']);

export async function applyBack(context: Context, { plan, load, reset, undo }: PlannedBack): Promise<BackResult> {
  const { target, point } = plan;
  if (reset) return { target, point, reset: await applyReset(context, reset) };
  if (undo) return { target, point, load: await applyUndo(context, undo) };
  if (!load) throw new Error('the plan is of no point');
  return { target, point, load: await applyLoad(context, load) };
}
