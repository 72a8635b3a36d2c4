import type { TableDiff } from '../../src/results/diff-results.ts';
import { emptyList } from '../../src/state/list.ts';
import { type FetchState, fetchInto, notFetched, showWhileFetching } from '../app/lists/fetched.ts';
import { type Model, quietly } from '../app/model.ts';
import type { TableDiffRoute } from '../table-diff/table-diff-route.ts';

export function openTableDiff(model: Model, of: Pick<TableDiffRoute, 'target' | 'a' | 'b' | 'table'>): void {
  const base = { screen: 'table-diff' as const, ...of, revealed: false, list: emptyList };
  showWhileFetching(model, { ...base, ...notFetched<TableDiff>() }, read(model, base));
}

export function toggleRevealed(model: Model, route: TableDiffRoute): void {
  const next = { ...route, ...notFetched<TableDiff>(), revealed: !route.revealed };
  route.controller.abort();
  model.navigation.replace(next);
  fetchInto(model, next, read(model, next));
}

function read(model: Model, { target, a, b, table, revealed }: Omit<TableDiffRoute, keyof FetchState<TableDiff>>) {
  const request = { target, a, b, table, reveal: revealed, original: false };
  return (signal: AbortSignal) => model.operations.diffTable(quietly(signal), request);
}
