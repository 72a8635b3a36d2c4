import type { SnapshotSelector } from '../operations/snapshots.ts';

/** Up to five digits are an index; whatever else names a snapshot is its id, which may be all digits too. */
export function toSelector(word: string): SnapshotSelector {
  return /^\d{1,5}$/.test(word) ? Number(word) : word;
}
