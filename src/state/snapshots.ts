import { createStore, type StoreApi } from 'zustand/vanilla';
import type { SnapshotRow, SnapshotTable } from '../results/results.ts';
import type { UserError } from '../runtime/errors.ts';

export interface SnapshotsState {
  targets: Record<string, SnapshotList>;
  /** Tables of the snapshots that were looked at last, by target and id. */
  tables: ReadonlyMap<string, SnapshotTables>;
}

export interface SnapshotTables {
  /** `null` until they are read, or when that failed. */
  found: SnapshotTable[] | null;
  error: UserError | null;
}

export interface OfSnapshot {
  target: string;
  /** Id. */
  snapshot: string;
}

export interface SnapshotList {
  phase: 'loading' | 'ready' | 'failed';
  error: UserError | null;
  rows: SnapshotRow[];
  /** Stored bytes of all on this machine, shared objects counted once; null where unknown. */
  localBytes: number | null;
}

export type SnapshotsStore = StoreApi<SnapshotsState>;

export function createSnapshotsStore(): SnapshotsStore {
  return createStore<SnapshotsState>(() => ({ targets: {}, tables: new Map() }));
}

const NOT_LOOKED_AT: SnapshotList = { phase: 'loading', error: null, rows: [], localBytes: null };

export function snapshotsOf(state: SnapshotsState, target: string): SnapshotList {
  return state.targets[target] ?? NOT_LOOKED_AT;
}

export function snapshotsListed(state: SnapshotsState, target: string, rows: SnapshotRow[]): SnapshotsState {
  return withList(state, target, { ...snapshotsOf(state, target), phase: 'ready', error: null, rows });
}

export function diskUseRead(state: SnapshotsState, target: string, localBytes: number | null): SnapshotsState {
  return withList(state, target, { ...snapshotsOf(state, target), localBytes });
}

/** Keeps the previous list beside the reason. */
export function snapshotsFailed(state: SnapshotsState, target: string, error: UserError): SnapshotsState {
  return withList(state, target, { ...snapshotsOf(state, target), phase: 'failed', error });
}

function withList(state: SnapshotsState, target: string, list: SnapshotList): SnapshotsState {
  return { ...state, targets: { ...state.targets, [target]: list } };
}

const UNREAD: SnapshotTables = { found: null, error: null };
/** Snapshots whose tables are kept: some have ten thousand. */
const MOST_KEPT = 20;

export function tablesOf({ tables }: SnapshotsState, of: OfSnapshot): SnapshotTables {
  return tables.get(keyOf(of)) ?? UNREAD;
}

export function tablesRead(state: SnapshotsState, of: OfSnapshot, read: SnapshotTables): SnapshotsState {
  const others = [...state.tables].filter(([key]) => key !== keyOf(of));
  return { ...state, tables: new Map([...others, [keyOf(of), read] as const].slice(-MOST_KEPT)) };
}

function keyOf({ target, snapshot }: OfSnapshot): string {
  return `${target}\n${snapshot}`;
}
