import { emptyList } from '../../src/state/list.ts';
import { readTables } from '../app/lists/refresh.ts';
import type { Model } from '../app/model.ts';
import type { Route } from '../app/route.ts';
import type { TablesRoute } from '../tables/tables-route.ts';

/** The tables of a snapshot as they were left, if those were looked at last. */
export function tablesOfSnapshot(
  { target, snapshot }: Pick<TablesRoute, 'target' | 'snapshot'>,
  left: Route | undefined,
): TablesRoute {
  if (left?.screen === 'tables' && left.target === target && left.snapshot.id === snapshot.id) return left;
  return { screen: 'tables', target, snapshot, list: emptyList, typing: null, marked: [] };
}

export function showTables(model: Model, { target, snapshot }: Pick<TablesRoute, 'target' | 'snapshot'>): void {
  model.navigation.push(tablesOfSnapshot({ target, snapshot }, undefined));
  void readTables(model, { target, snapshot: snapshot.id });
}
