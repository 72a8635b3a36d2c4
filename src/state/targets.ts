import { createStore, type StoreApi } from 'zustand/vanilla';
import type { UserError } from '../errors.ts';
import type { TargetRow } from '../results.ts';

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
  const entries = rows.map((row): TargetEntry => {
    const before = state.entries.find((entry) => entry.row.name === row.name);
    if (!before || before.checkedAt === null) return { row, checking: false, checkedAt: null, since: null };
    const { status, latency_ms, server_version, size_bytes, error } = before.row;
    return { ...before, row: { ...row, status, latency_ms, server_version, size_bytes, error }, checking: false };
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

export function targetChecked(state: TargetsState, row: TargetRow, now: number): TargetsState {
  return change(state, row.name, (entry) => ({
    row,
    checking: false,
    checkedAt: now,
    since: entry.since !== null && entry.row.status === row.status ? entry.since : now,
  }));
}

/** A check that itself failed, or took longer than anybody waits. */
export function targetUnreachable(
  state: TargetsState,
  { name, reason, now }: { name: string; reason: string; now: number },
): TargetsState {
  const entry = state.entries.find(({ row }) => row.name === name);
  if (!entry) return state;
  const row: TargetRow = { ...entry.row, status: 'unreachable', latency_ms: null, error: reason };
  return targetChecked(state, row, now);
}

function change(state: TargetsState, name: string, update: (entry: TargetEntry) => TargetEntry): TargetsState {
  return { ...state, entries: state.entries.map((entry) => (entry.row.name === name ? update(entry) : entry)) };
}
