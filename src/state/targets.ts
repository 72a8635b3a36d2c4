import { createStore, type StoreApi } from 'zustand/vanilla';
import type { TargetRow } from '../results/results.ts';
import type { UserError } from '../runtime/errors.ts';

/** The targets and what is known of each, live or remembered from the last time. */
export interface TargetsState {
  phase: 'loading' | 'ready' | 'failed';
  error: UserError | null;
  entries: TargetEntry[];
}

export interface TargetEntry {
  row: TargetRow;
  checking: boolean;
  /** When the row's state was found; `null` while it is only configured. */
  checkedAt: number | null;
  /** Since when the status is what it is, as far as this session has seen. */
  since: number | null;
}

export type TargetsStore = StoreApi<TargetsState>;

/** What another session has left behind: shown at once, until something newer is known. */
export interface KnownTarget {
  row: TargetRow;
  checkedAt: number;
}

export function createTargetsStore(known: KnownTarget[] = []): TargetsStore {
  return createStore<TargetsState>(() => ({
    phase: 'loading',
    error: null,
    entries: known.map(({ row, checkedAt }) => ({ row, checking: true, checkedAt, since: null })),
  }));
}

/** The configured targets replace the known ones; what was found of those that stay is kept. */
export function targetsListed(state: TargetsState, rows: TargetRow[]): TargetsState {
  const known = new Map(state.entries.map((entry) => [entry.row.name, entry]));
  const entries = rows.map((row): TargetEntry => {
    const before = known.get(row.name);
    if (!before || before.checkedAt === null) return { row, checking: false, checkedAt: null, since: null };
    const { status, latency_ms, server_version, size_bytes, error, error_code } = before.row;
    return {
      ...before,
      row: { ...row, status, latency_ms, server_version, size_bytes, error, error_code },
      checking: false,
    };
  });
  return { phase: 'ready', error: null, entries };
}

export function targetsFailed(state: TargetsState, error: UserError): TargetsState {
  return { phase: 'failed', error, entries: state.entries.map((entry) => ({ ...entry, checking: false })) };
}

/** All connections are being tried. */
export function targetsChecking(state: TargetsState): TargetsState {
  return { ...state, entries: state.entries.map((entry) => ({ ...entry, checking: true })) };
}

/** Rows that were found, by the name of the target. */
export function targetsChecked(state: TargetsState, rows: Map<string, TargetRow>, now: number): TargetsState {
  const entries = state.entries.map((entry): TargetEntry => {
    const row = rows.get(entry.row.name);
    if (!row) return entry;
    const since = entry.since !== null && entry.row.status === row.status ? entry.since : now;
    return { row, checking: false, checkedAt: now, since };
  });
  return { ...state, entries };
}

/** A check that itself failed, or took longer than anybody waits. */
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
