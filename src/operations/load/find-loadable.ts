import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { Context } from '../../runtime/context.ts';
import { findLoadableSave } from '../save/saves.ts';
import { assertNoOriginalData, assertNotOriginal } from '../snapshots/sanitized-only.ts';
import { assertTrusted } from '../snapshots/signatures.ts';
import { type FoundSnapshot, findSnapshot } from '../snapshots/snapshots.ts';
import type { LoadRequest } from './planned-load.ts';

/** Refuses a save that is not of this machine, a snapshot without a trusted signature, and an original where only sanitized ones are loaded. */
export async function findLoadable(context: Context, request: LoadRequest): Promise<FoundSnapshot> {
  const found = await findRequested(context, request);
  await assertAllowedData(context, request.target, found.manifest);
  return found;
}

/** A save of a branch has the data of the snapshot that the branch was made from. */
export async function assertAllowedData(context: Context, target: string, manifest: Manifest): Promise<void> {
  if (manifest.branch) return assertNoOriginalData(context, target, manifest.branch.snapshot);
  await assertNotOriginal(context, target, manifest);
}

export async function findRequested(context: Context, request: LoadRequest): Promise<FoundSnapshot> {
  const { target, save, branch, saveOf = branch, owner } = request;
  if (save !== undefined) return findLoadableSave(context, { target, id: save, branch: saveOf, owner });
  const found = await findSnapshot(context, request);
  assertTrusted(context, found.manifest, request);
  return found;
}
