import { emptyList } from '../../src/state/list.ts';
import { readTables, refreshSnapshots } from '../app/lists/refresh.ts';
import type { Model } from '../app/model.ts';
import { openNext } from '../app/panes.ts';
import type { Route } from '../app/route.ts';
import { type SnapshotsRoute, snapshotsRoute } from '../snapshots/snapshots-route.ts';
import type { TablesRoute } from '../tables/tables-route.ts';

/** Opens the snapshots of any target; from the list of targets it is selected there, too. */
export function openTarget(model: Model, name: string): void {
  const { navigation } = model;
  const route = navigation.top();
  if (route.screen === 'targets' && route.list.filter === '') {
    navigation.replace({ ...route, list: { ...route.list, selected: name } });
    openNext(model);
    return;
  }
  navigation.push(snapshotsRoute(name));
  void refreshSnapshots(model, name);
}

/** The snapshots of a target as they were left, if those were looked at last. */
export function snapshotsOfTarget(name: string, left: Route | undefined): SnapshotsRoute {
  return left?.screen === 'snapshots' && left.target === name ? left : snapshotsRoute(name);
}

/** Opens the snapshots of a target with one of them selected. */
export function openSnapshot(model: Model, { target, snapshot }: { target: string; snapshot: string }): void {
  const route = snapshotsRoute(target);
  model.navigation.push({ ...route, list: { ...route.list, selected: snapshot } });
  void refreshSnapshots(model, target);
}

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
