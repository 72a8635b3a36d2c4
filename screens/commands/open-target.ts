import { refreshSnapshots } from '../app/lists/refresh.ts';
import type { Model } from '../app/model.ts';
import { snapshotsRoute } from '../snapshots/snapshots-route.ts';

export function openTarget(model: Model, name: string): void {
  model.navigation.push(snapshotsRoute(name));
  void refreshSnapshots(model, name);
}
