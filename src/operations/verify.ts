import type { Context } from '../context.ts';
import type { VerifyResult } from './results.ts';
import type { SnapshotRequest } from './snapshots.ts';

/** Re-reads every byte of a snapshot against its checksums. Damage is in the result, not thrown. */
export async function verify(_context: Context, _request: SnapshotRequest): Promise<VerifyResult> {
  throw new Error('stub');
}
