import type { Context } from '../context.ts';
import type { RemovePlan } from '../results.ts';
import { findSnapshot, repositoryOf, type SnapshotRequest } from './snapshots.ts';

/** What removing a snapshot would free. */
export async function planRemove(context: Context, request: SnapshotRequest): Promise<RemovePlan> {
  const { manifest, row } = await findSnapshot(context, request);
  const frees_bytes = await repositoryOf(context).ownBytes([manifest]);
  return { target: manifest.target, snapshot: row, frees_bytes };
}

/** Removes the snapshot's manifest, then the objects that no snapshot names any more. It cannot be undone. */
export async function remove(context: Context, { target, snapshot }: RemovePlan): Promise<void> {
  const { report, clock } = context;
  const { manifest } = await findSnapshot(context, { target, snapshot: snapshot.id });
  const repository = repositoryOf(context);
  report({ event: 'step', step: 'remove', state: 'started', label: `Remove snapshot ${manifest.id} of ${target}` });
  await repository.remove(manifest);
  await repository.sweep(clock());
  report({ event: 'step', step: 'remove', state: 'done', label: `Removed snapshot ${manifest.id} of ${target}` });
}
