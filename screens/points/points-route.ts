import { likelyPoint } from '../../src/operations/back/text.ts';
import type { BackPoint, BackPoints } from '../../src/results/saves/save-results.ts';
import type { ListState } from '../../src/state/list.ts';
import { type FetchState, fetchAgain } from '../app/lists/fetched.ts';
import { positionIn, type Rows } from '../app/lists/in-view.ts';
import { type Model, quietly } from '../app/model.ts';

export interface PointsRoute extends FetchState<BackPoints> {
  screen: 'points';
  target: string;
  /** Absent: the destination. */
  branch?: string | undefined;
  list: ListState;
}

export function pointsOf({ found }: PointsRoute): BackPoint[] {
  return found?.points ?? [];
}

export function pointRows(route: PointsRoute): Rows {
  const points = pointsOf(route);
  const ids = points.map(({ kind, name }) => `${kind} ${name}`);
  return { ids, positions: new Map(ids.map((id, index) => [id, index])), initial: likelyPoint(points) };
}

export function selectedPoint(route: PointsRoute): BackPoint | null {
  return pointsOf(route)[positionIn(pointRows(route), route.list.selected)] ?? null;
}

export function refreshPoints(model: Model, target: string): void {
  fetchAgain<PointsRoute>(model, { screen: 'points', target }, (route, signal) => readPoints(model, route, signal));
}

export function readPoints(
  { operations }: Model,
  { target, branch }: Pick<PointsRoute, 'target' | 'branch'>,
  signal: AbortSignal,
): Promise<BackPoints> {
  return operations.listPoints(quietly(signal), { target, branch });
}
