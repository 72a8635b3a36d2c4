import { PAGE_CHROME } from '../../components/page.tsx';
import { type ListState, type Move, moveSelection } from '../../src/state/list.ts';
import { positionIn, type Rows } from './lists/in-view.ts';
import { type Model, screenOf } from './model.ts';

export function back(model: Model): void {
  const route = model.navigation.top();
  const { onBack } = screenOf(model, route);
  if (onBack) {
    onBack(model, route);
    return;
  }
  if ('controller' in route) route.controller.abort();
  model.navigation.pop();
}

/** Moves the selection of the list, or what else the screen moves. */
export function move(model: Model, direction: Move): void {
  const route = model.navigation.top();
  const { onMove } = screenOf(model, route);
  if (onMove) onMove(model, route, direction);
  else moveInList(model, direction);
}

export function moveInList(model: Model, direction: Move): void {
  const { navigation } = model;
  const route = navigation.top();
  const { rows } = screenOf(model, route);
  if (!rows || !('list' in route)) return;
  navigation.replace({
    ...route,
    list: movedIn(model, { list: route.list, rows: rows(model, route), move: direction }),
  });
}

/** Returns the list with the selection moved among its rows. */
export function movedIn(model: Model, { list, rows, move }: { list: ListState; rows: Rows; move: Move }): ListState {
  const index = positionIn(rows, list.selected);
  // A longer page would pass rows that were never in view.
  const ids = rows.positions ?? new Set(rows.ids);
  const inView = new Set(model.viewport.keys.filter((key) => ids.has(key))).size;
  return moveSelection(list, { ids: rows.ids, index, move, page: inView || pageOf(model) });
}

/** Rows that a page key moves by where no list is in view. */
export function pageOf({ terminal }: Model): number {
  return Math.max(1, terminal.rows() - PAGE_CHROME - 2);
}

/** Lines scrolled from the start of a text. */
export function scrolledDown(model: Model, from: number, direction: Move): number {
  return withinText(model, from + distanceOf(model, direction));
}

/** Lines scrolled from the end of a text: 0 follows a log. */
export function scrolledUp(model: Model, from: number, direction: Move): number {
  return withinText(model, from - distanceOf(model, direction));
}

function withinText({ viewport }: Model, scrolled: number): number {
  return Math.max(0, Math.min(viewport.furthest, scrolled));
}

function distanceOf(model: Model, direction: Move): number {
  const page = model.viewport.page ?? pageOf(model);
  const distances: Record<Move, number> = {
    up: -1,
    down: 1,
    'page-up': -page,
    'page-down': page,
    first: Number.NEGATIVE_INFINITY,
    last: Number.POSITIVE_INFINITY,
  };
  return distances[direction];
}
