import type { SnapshotRow } from '../../src/results/results.ts';
import { emptyList } from '../../src/state/list.ts';
import { snapshotsOf } from '../../src/state/snapshots.ts';
import { type FilterState, filterOf } from '../app/lists/filter.ts';
import { type InView, positionIn } from '../app/lists/in-view.ts';
import type { Model } from '../app/model.ts';
import type { Route } from '../app/route.ts';

export interface SnapshotsRoute extends FilterState {
  screen: 'snapshots';
  target: string;
  /** Ids of the snapshots to compare. */
  marked: string[];
  /** The tables of a snapshot, as they were left. */
  child?: Route | undefined;
}

export function snapshotsRoute(target: string): SnapshotsRoute {
  return { screen: 'snapshots', target, list: emptyList, typing: null, marked: [] };
}

/** The snapshots that the filter lets through. */
export function snapshotsInView({ snapshots, views }: Model, route: SnapshotsRoute): InView<SnapshotRow> {
  return views.snapshots(snapshotsOf(snapshots.getState(), route.target).rows, filterOf(route));
}

export function selectedSnapshot(model: Model, route: SnapshotsRoute): SnapshotRow | null {
  const view = snapshotsInView(model, route);
  return view.items[positionIn(view, route.list.selected)] ?? null;
}
