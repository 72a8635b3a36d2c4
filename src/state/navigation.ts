import { createStore, type StoreApi } from 'zustand/vanilla';

/** Where one is: the places one came through, the present one last. A route carries all that its screen shows. */
export interface NavigationState<Route> {
  stack: [Route, ...Route[]];
  /** What was done last, or why something cannot be done; gone with the next key. */
  notice: Notice | null;
}

export interface Notice {
  tone: 'good' | 'caution' | 'bad' | 'plain';
  text: string;
}

export interface Navigation<Route> {
  store: StoreApi<NavigationState<Route>>;
  top(): Route;
  push(route: Route): void;
  /** Back by one level; at the root it does nothing. */
  pop(): void;
  /** The present route with changes, or another one instead of it. */
  replace(route: Route): void;
  /** Every route on the way, such as one that something was found for while another is shown. */
  change(update: (route: Route) => Route): void;
  notify(notice: Notice | null): void;
}

export function createNavigation<Route>(stack: [Route, ...Route[]]): Navigation<Route> {
  const store = createStore<NavigationState<Route>>(() => ({ stack, notice: null }));
  return {
    store,
    top: () => topOf(store.getState()),
    push: (route) => store.setState(({ stack }) => ({ stack: [...stack, route] })),
    pop: () => store.setState(({ stack: [root, ...rest] }) => ({ stack: [root, ...rest.slice(0, -1)] })),
    replace: (route) =>
      store.setState(({ stack: [root, ...rest] }) => ({
        stack: rest.length === 0 ? [route] : [root, ...rest.slice(0, -1), route],
      })),
    change: (update) =>
      store.setState(({ stack: [root, ...rest] }) => ({ stack: [update(root), ...rest.map(update)] })),
    notify: (notice) => store.setState({ notice }),
  };
}

export function topOf<Route>({ stack: [root, ...rest] }: NavigationState<Route>): Route {
  return rest.at(-1) ?? root;
}
