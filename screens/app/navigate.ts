import { PAGE_CHROME } from '../../components/page.tsx';
import { type Move, moveSelection } from '../../src/state/list.ts';
import { positionIn } from './lists/in-view.ts';
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
  const inView = rows(model, route);
  const index = positionIn(inView, route.list.selected);
  const list = moveSelection(route.list, { ids: inView.ids, index, move: direction, page: pageOf(model) });
  navigation.replace({ ...route, list });
}

/** Rows that a page key moves by. */
export function pageOf({ terminal }: Model): number {
  return Math.max(1, terminal.rows() - PAGE_CHROME - 2);
}

/** Lines scrolled from the start of a text. */
export function scrolledDown(model: Model, from: number, direction: Move): number {
  const page = model.viewport.page ?? pageOf(model);
  const distances: Record<Move, number> = {
    up: -1,
    down: 1,
    'page-up': -page,
    'page-down': page,
    first: Number.NEGATIVE_INFINITY,
    last: Number.POSITIVE_INFINITY,
  };
  return Math.max(0, Math.min(model.viewport.furthest, from + distances[direction]));
}

const OPPOSITE: Record<Move, Move> = {
  up: 'down',
  down: 'up',
  'page-up': 'page-down',
  'page-down': 'page-up',
  first: 'last',
  last: 'first',
};

/** Lines scrolled from the end of a text: 0 follows a log. */
export function scrolledUp(model: Model, from: number, direction: Move): number {
  return scrolledDown(model, from, OPPOSITE[direction]);
}
