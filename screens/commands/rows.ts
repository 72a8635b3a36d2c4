import type { SnapshotRow } from '../../src/results/results.ts';
import type { RowsResult } from '../../src/results/review/rows-results.ts';
import { emptyList, type Move } from '../../src/state/list.ts';
import { type FetchState, fetchInto, notFetched, showWhileFetching } from '../app/lists/fetched.ts';
import { type GridState, moveInGrid } from '../app/lists/grid-keys.ts';
import { positionIn, rowsByIndex } from '../app/lists/in-view.ts';
import { type Model, quietly } from '../app/model.ts';

export interface RowsRoute extends FetchState<RowsResult>, GridState {
  screen: 'rows';
  target: string;
  snapshot: SnapshotRow;
  table: string;
  revealed: boolean;
  /** Rows before the first one of the page. */
  skip: number;
}

const SCREEN_ROWS = 500;

export function openRows(model: Model, of: Pick<RowsRoute, 'target' | 'snapshot' | 'table'>): void {
  const base = { screen: 'rows' as const, ...of, revealed: false, skip: 0, scrolled: 0, record: null, list: emptyList };
  showWhileFetching(model, { ...base, ...notFetched<RowsResult>() }, read(model, base));
}

/** Values that look like personal data are read again, and only while they are shown. */
export function toggleRevealed(model: Model, route: RowsRoute): void {
  readAgain(model, route, { revealed: !route.revealed });
}

/** Moves within the page; beyond its last row to the next page, and before its first to the one before. */
export function moveInRows(model: Model, route: RowsRoute, move: Move): void {
  const { found, list, record, skip } = route;
  const count = found?.rows.length ?? 0;
  const index = positionIn(rowsByIndex(found?.rows ?? []), list.selected);
  if (found && record === null && FORWARD.has(move) && index === count - 1 && skip + count < found.total) {
    readAgain(model, route, { skip: skip + count, list: emptyList });
  } else if (found && record === null && BACKWARD.has(move) && index === 0 && skip > 0) {
    const before = Math.max(0, skip - SCREEN_ROWS);
    const last = move === 'first' ? null : String(skip - before - 1);
    readAgain(model, route, { skip: move === 'first' ? 0 : before, list: { ...list, selected: last } });
  } else moveInGrid(model, route, move);
}

/** The keys that go to an end of the page go on from there to the page beyond. */
const FORWARD = new Set<Move>(['down', 'page-down', 'last']);
const BACKWARD = new Set<Move>(['up', 'page-up', 'first']);

function readAgain(model: Model, route: RowsRoute, change: Partial<RowsRoute>): void {
  const next = { ...route, ...notFetched<RowsResult>(), ...change };
  route.controller.abort();
  model.navigation.replace(next);
  fetchInto(model, next, read(model, next));
}

function read(
  model: Model,
  { target, snapshot, table, revealed, skip }: Omit<RowsRoute, keyof FetchState<RowsResult>>,
) {
  const request = { target, snapshot: snapshot.id, table, reveal: revealed, limit: SCREEN_ROWS, skip, key: true };
  return (signal: AbortSignal) => model.operations.readRows(quietly(signal), request);
}
