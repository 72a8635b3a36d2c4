import { createStore, type StoreApi } from 'zustand/vanilla';
import type { HubState } from '../results/cloud-results.ts';
import type { TargetRow } from '../results/results.ts';
import type { UserError } from '../runtime/errors.ts';

export interface TargetsState {
  phase: 'loading' | 'ready' | 'failed';
  error: UserError | null;
  entries: TargetEntry[];
  /** Why the cloud targets are not those that the hub has now; `null` when they are. */
  hub: HubState | null;
  /** Sizes of the newest snapshots by target, as far as they were read. */
  sizes: ReadonlyMap<string, SnapshotSizes>;
}

export interface SnapshotSizes {
  /** Identifies the snapshots of the sizes: `snapshotsKey`. */
  of: string;
  /** Bytes, oldest first. */
  sizes: number[];
}

export interface TargetEntry {
  row: TargetRow;
  checking: boolean;
  /** `null` before the first check. */
  checkedAt: number | null;
}

export type TargetsStore = StoreApi<TargetsState>;

/** Cached by the last session: shown until the first check. */
export interface KnownTarget {
  row: TargetRow;
  checkedAt: number;
}

export function createTargetsStore(known: KnownTarget[] = []): TargetsStore {
  return createStore<TargetsState>(() => ({
    phase: 'loading',
    error: null,
    hub: null,
    sizes: new Map(),
    entries: known.map(({ row, checkedAt }) => ({ row, checking: true, checkedAt })),
  }));
}

/** The configured targets replace the known ones; states of remaining targets are kept. */
export function targetsListed(state: TargetsState, rows: TargetRow[], hub = state.hub): TargetsState {
  const known = new Map(state.entries.map((entry) => [entry.row.name, entry]));
  const entries = rows.map((row): TargetEntry => {
    const before = known.get(row.name);
    if (!before || before.checkedAt === null) return { row, checking: false, checkedAt: null };
    const { status, latency_ms, server_version, size_bytes, error, error_code } = before.row;
    return {
      ...before,
      row: withKnown({ ...row, status, latency_ms, server_version, size_bytes, error, error_code }, before.row),
      checking: false,
    };
  });
  return { ...state, phase: 'ready', error: null, entries, hub };
}

export function targetsFailed(state: TargetsState, error: UserError): TargetsState {
  return { ...state, phase: 'failed', error, entries: state.entries.map((entry) => ({ ...entry, checking: false })) };
}

export function targetsChecking(state: TargetsState): TargetsState {
  return { ...state, entries: state.entries.map((entry) => ({ ...entry, checking: true })) };
}

export function targetsChecked(state: TargetsState, rows: Map<string, TargetRow>, now: number): TargetsState {
  const entries = state.entries.map((entry): TargetEntry => {
    const row = rows.get(entry.row.name);
    if (!row) return entry;
    return { row: withKnown(row, entry.row), checking: false, checkedAt: now };
  });
  return { ...state, entries };
}

/** Copies and contents of the destination are looked for less often than the state of the source. */
function withKnown(row: TargetRow, before: TargetRow): TargetRow {
  const { copies = before.copies } = row;
  return withContentsOf({ ...row, ...(copies && { copies }) }, row.contents === undefined ? before : row);
}

function withContentsOf(
  { destination_missing: _, ...row }: TargetRow,
  { contents, destination_missing: missing }: TargetRow,
): TargetRow {
  return { ...row, ...(contents !== undefined && { contents }), ...(missing && { destination_missing: missing }) };
}

export function contentsRead(state: TargetsState, found: TargetRow): TargetsState {
  if (found.contents === undefined) return state;
  const entries = state.entries.map((entry) =>
    entry.row.name === found.name ? { ...entry, row: withContentsOf(entry.row, found) } : entry,
  );
  return { ...state, entries };
}

export function targetsUnreachable(
  state: TargetsState,
  { names, reason, now }: { names: Set<string>; reason: string; now: number },
): TargetsState {
  const failed = state.entries.filter(({ row }) => names.has(row.name));
  const rows = failed.map(({ row }): [string, TargetRow] => [
    row.name,
    { ...row, status: 'unreachable', latency_ms: null, error: reason, error_code: 'unreachable' },
  ]);
  return targetsChecked(state, new Map(rows), now);
}

/** Changes when the target gets or loses a snapshot. */
export function snapshotsKey({ snapshots, last_snapshot_at }: TargetRow): string {
  return `${snapshots} ${last_snapshot_at}`;
}

export function sizesRead(state: TargetsState, read: Map<string, SnapshotSizes>): TargetsState {
  return { ...state, sizes: new Map([...state.sizes, ...read]) };
}
