import { emptyList } from '../../src/state/list.ts';
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
