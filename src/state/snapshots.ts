import { createStore, type StoreApi } from 'zustand/vanilla';
import type { SnapshotRow } from '../results/results.ts';
import type { UserError } from '../runtime/errors.ts';

export interface SnapshotsState {
  targets: Record<string, SnapshotList>;
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
  return createStore<SnapshotsState>(() => ({ targets: {} }));
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
  return { targets: { ...state.targets, [target]: list } };
}
