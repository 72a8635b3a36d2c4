import { refreshSnapshots } from '../app/lists/refresh.ts';
import type { Model } from '../app/model.ts';
import { openNext } from '../app/panes.ts';
import type { Route } from '../app/route.ts';
import { type SnapshotsRoute, snapshotsRoute } from '../snapshots/snapshots-route.ts';

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
