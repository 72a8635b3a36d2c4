import { EXIT, UserError } from '../errors.ts';
import type { SnapshotRequest, SnapshotSelector } from '../operations/snapshots/snapshots.ts';
import type { SnapshotPlace } from '../results.ts';

/**
 * Up to five digits are an index, and `latest` is the newest; whatever else names a snapshot is its id, which may be
 * all digits too.
 */
export function toSelector(word: string): SnapshotSelector {
  if (word === 'latest') return 0;
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

export interface PlaceOptions {
  local?: boolean;
  remote?: boolean;
}

/** The one place that `--local` or `--remote` names. */
export function placeOf({ local, remote }: PlaceOptions): { from?: SnapshotPlace } {
  if (local && remote) {
    throw new UserError('--local and --remote exclude each other', {
      code: 'usage',
      exit: EXIT.usage,
      hint: 'Without either it is both.',
    });
  }
  if (local) return { from: 'local' };
  return remote ? { from: 'remote' } : {};
}
