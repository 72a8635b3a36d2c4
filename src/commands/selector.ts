import type { SnapshotRequest, SnapshotSelector } from '../operations/snapshots.ts';

/** Up to five digits are an index; whatever else names a snapshot is its id, which may be all digits too. */
export function toSelector(word: string): SnapshotSelector {
  return /^\d{1,5}$/.test(word) ? Number(word) : word;
}

export interface SnapshotArguments {
  target: string;
  snapshot?: string;
}

/** The snapshot that a command was asked about. */
export function snapshotRequest({
  arguments: { target, snapshot },
  options: { original },
}: {
  arguments: SnapshotArguments;
  options: { original?: boolean };
}): SnapshotRequest {
  return {
    target,
    ...(snapshot !== undefined && { snapshot: toSelector(snapshot) }),
    ...(original && { original }),
  };
}
