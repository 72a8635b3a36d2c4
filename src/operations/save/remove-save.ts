import type { SaveRemoval } from '../../results/saves/save-results.ts';
import type { Context } from '../../runtime/context.ts';
import { recorded } from '../history/recorded.ts';
import { type Planned, planOutdated } from '../planned.ts';
import { freedBytes, removeFrom } from '../remove/remove.ts';
import { findSave, listAllSaves, type SavesOf } from './saves.ts';

export interface RemoveSaveRequest extends SavesOf {
  /** Name or index. */
  name: string;
}

export type PlannedSaveRemoval = Planned<RemoveSaveRequest, SaveRemoval>;

const HERE = { from: ['local' as const], remote: null };

export async function planSaveRemoval(context: Context, request: RemoveSaveRequest): Promise<PlannedSaveRemoval> {
  const { target, name: save, ...of } = request;
  const { row, manifest } = await findSave(context, { target, save, ...of });
  const frees_bytes = await freedBytes(context, { ...HERE, manifests: [manifest] });
  return { request, plan: { target, save: row, frees_bytes }, planned_at: context.clock().toISOString() };
}

/** Removes the save's manifest, then the objects that nothing names any more. It cannot be undone. */
export async function applySaveRemoval(context: Context, { plan }: PlannedSaveRemoval): Promise<SaveRemoval> {
  await removeSave(context, plan);
  return plan;
}

export async function removeSave(
  context: Context,
  { target, save }: Pick<SaveRemoval, 'target' | 'save'>,
): Promise<void> {
  const found = (await listAllSaves(context, target)).find(({ row }) => row.id === save.id);
  if (!found) throw planOutdated(`Save ${JSON.stringify(save.name)} of ${target} was removed`);
  const known = { target, save: save.name, snapshot: save.id, size_bytes: save.size_bytes };
  const work = () => removeFrom(context, { ...HERE, manifests: [found.manifest] });
  await recorded(context, { operation: 'remove', ...known }, { work });
}
