import type { Context } from '../context.ts';
import type { SnapshotRow } from './results.ts';

export interface BuildRequest {
  target: string;
  note?: string;
  cpus?: number;
}

/** Takes a snapshot of the target's source. Steps: `connect`, `dump`, `store`. */
export async function build(_context: Context, _request: BuildRequest): Promise<SnapshotRow> {
  throw new Error('stub');
}
