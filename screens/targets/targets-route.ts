import { emptyList } from '../../src/state/list.ts';
import type { TargetEntry } from '../../src/state/targets.ts';
import { type FilterState, filterOf } from '../app/lists/filter.ts';
import { type InView, positionIn } from '../app/lists/in-view.ts';
import type { Sort } from '../app/lists/sort-targets.ts';
import type { Model } from '../app/model.ts';
import type { Route } from '../app/route.ts';

export interface TargetsRoute extends FilterState {
  screen: 'targets';
  sort: Sort;
  /** The snapshots of a target, as they were left. */
  child?: Route | undefined;
}

export function targetsRoute(): TargetsRoute {
  return { screen: 'targets', list: emptyList, typing: null, sort: 'configured' };
}

/** The targets that the filter lets through, in the chosen order. */
export function targetsInView({ targets, views }: Model, route: TargetsRoute): InView<TargetEntry> {
  return views.targets(targets.getState().entries, route.sort, filterOf(route));
}

export function selectedTarget(model: Model, route: TargetsRoute): TargetEntry | null {
  const view = targetsInView(model, route);
  return view.items[positionIn(view, route.list.selected)] ?? null;
}
