import { positionIn } from './lists/in-view.ts';
import { type KeyBinding, type Model, screenOf } from './model.ts';
import type { Route, Routes } from './route.ts';

/** A list that opens another one; that one is kept as it was left. */
type OpenerRoute = Routes['targets' | 'snapshots'];

export interface PaneChain {
  /** The lists that led here, the present one, and what it would open. */
  routes: Route[];
  /** Index of the present one. */
  focus: number;
}

/** More would not be shown. */
const MOST_PANES = 3;

/** The panes around the present list: each shows what the selected row of the one before opens. */
export function paneChain(model: Model): PaneChain {
  const { stack } = model.navigation.store.getState();
  const top = stack.length - 1;
  let from = top;
  while (from > 0 && opens(model, stack[from - 1], stack[from])) from -= 1;
  const routes: Route[] = stack.slice(from);
  const focus = routes.length - 1;
  while (routes.length < MOST_PANES) {
    const next = nextOf(model, routes.at(-1));
    if (!next) break;
    routes.push(next);
  }
  return { routes, focus };
}

function opens(model: Model, parent: Route | undefined, child: Route | undefined): boolean {
  const next = nextOf(model, parent);
  return next !== null && child !== undefined && objectOf(next) === objectOf(child);
}

function nextOf(model: Model, route: Route | undefined): Route | null {
  return route === undefined ? null : (screenOf(model, route).pane?.next?.(model, route) ?? null);
}

/** Identifies the object of a route's list. */
export function objectOf(route: Route): string {
  const target = 'target' in route ? route.target : '';
  return [route.screen, target, 'snapshot' in route ? route.snapshot.id : ''].join('\n');
}

/** Opens what the selected row leads to, as it was left; `false` where it leads to no list. */
export function openNext(model: Model): boolean {
  const { navigation } = model;
  const route = navigation.top();
  const next = nextOf(model, route);
  if (!next) return false;
  navigation.replace(withSelection(model, route));
  navigation.push(next);
  void screenOf(model, next).pane?.read?.(model, next);
  return true;
}

/** The row that is selected by default stays selected when others come before it. */
function withSelection(model: Model, route: Route): Route {
  const rows = screenOf(model, route).rows?.(model, route);
  if (!rows || !('list' in route)) return route;
  const selected = rows.ids[positionIn(rows, route.list.selected)] ?? null;
  return { ...route, list: { ...route.list, selected } };
}

/** Goes back to the list before, which keeps this one as it is. */
export function leavePane(model: Model): void {
  const { navigation } = model;
  const { stack } = navigation.store.getState();
  const left = navigation.top();
  const opener = stack.at(-2);
  navigation.pop();
  if (isOpener(opener) && opens(model, opener, left)) navigation.replace({ ...opener, child: left });
}

function isOpener(route: Route | undefined): route is OpenerRoute {
  return route?.screen === 'targets' || route?.screen === 'snapshots';
}

function hasPanes({ viewport }: Model): boolean {
  return viewport.pane !== undefined;
}

/** Keys of lists that stand side by side; before those that move in a list. */
export const PANE_KEYS: KeyBinding[] = [
  {
    keys: ['tab'],
    label: 'next pane',
    help: 'to the next pane, where panes stand side by side',
    when: ({ model }) => hasPanes(model),
    run: (model) => {
      if (openNext(model)) return;
      for (let { focus } = paneChain(model); focus > 0; focus -= 1) leavePane(model);
    },
  },
  {
    keys: ['shift+tab'],
    help: 'to the pane before',
    when: ({ model }) => hasPanes(model),
    run: (model) => {
      if (paneChain(model).focus > 0) leavePane(model);
      else for (let more = MOST_PANES; more > 0 && openNext(model); more -= 1);
    },
  },
];
