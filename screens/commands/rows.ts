import type { RowsResult } from '../../src/results/rows-results.ts';
import { emptyList } from '../../src/state/list.ts';
import { type FetchState, fetchInto, notFetched, showWhileFetching } from '../app/lists/fetched.ts';
import { type Model, quietly } from '../app/model.ts';
import type { RowsRoute } from '../rows/rows-route.ts';

const SCREEN_ROWS = 500;

export function openRows(model: Model, of: Pick<RowsRoute, 'target' | 'snapshot' | 'table'>): void {
  const base = { screen: 'rows' as const, ...of, revealed: false, scrolled: 0, record: null, list: emptyList };
  showWhileFetching(model, { ...base, ...notFetched<RowsResult>() }, read(model, base));
}

/** Values that look like personal data are read again, and only while they are shown. */
export function toggleRevealed(model: Model, route: RowsRoute): void {
  const next = { ...route, ...notFetched<RowsResult>(), revealed: !route.revealed };
  route.controller.abort();
  model.navigation.replace(next);
  fetchInto(model, next, read(model, next));
}

function read(model: Model, { target, snapshot, table, revealed }: Omit<RowsRoute, keyof FetchState<RowsResult>>) {
  const request = { target, snapshot: snapshot.id, table, reveal: revealed, limit: SCREEN_ROWS, key: true };
  return (signal: AbortSignal) => model.operations.readRows(quietly(signal), request);
}
