import type { Context } from '../context.ts';
import type { SnapshotRow, TargetSnapshots } from './results.ts';

/** Which snapshot of a target: its index (0 is the newest) or its id; screens use the id, which does not shift. */
export type SnapshotSelector = number | string;

export interface SnapshotRequest {
  target: string;
  /** Default 0. */
  snapshot?: SnapshotSelector;
  /** Takes the original where a sanitized one would be taken. */
  original?: boolean;
}

/** A target's snapshots, newest first. */
export async function listSnapshots(_context: Context, _target: string): Promise<TargetSnapshots> {
  throw new Error('stub');
}

/** Sets or, with an empty text, removes the note of a snapshot. */
export async function annotate(_context: Context, _request: SnapshotRequest & { note: string }): Promise<SnapshotRow> {
  throw new Error('stub');
}
