import type { Context } from '../context.ts';
import type { RemovePlan } from './results.ts';
import type { SnapshotRequest } from './snapshots.ts';

/** What removing a snapshot would free. */
export async function planRemove(_context: Context, _request: SnapshotRequest): Promise<RemovePlan> {
  throw new Error('stub');
}

/** Removes the snapshot's manifest, then the objects that no snapshot names any more. It cannot be undone. */
export async function remove(_context: Context, _plan: RemovePlan): Promise<void> {
  throw new Error('stub');
}
