import { createStore, type StoreApi } from 'zustand/vanilla';

/** The path to the current screen, which is last. A route carries everything that its screen shows. */
export interface NavigationState<Route> {
  stack: [Route, ...Route[]];
  /** The last result, or the reason why a command is not available; cleared by the next key. */
  notice: ScreenNotice | null;
}

export interface ScreenNotice {
  tone: 'good' | 'caution' | 'bad' | 'plain';
  text: string;
}

export interface Navigation<Route> {
  store: StoreApi<NavigationState<Route>>;
  top(): Route;
  push(route: Route): void;
  pop(): void;
  replace(route: Route): void;
  /** Changes every route of the path, for results that arrive while another screen is shown. */
  change(update: (route: Route) => Route): void;
  notify(notice: ScreenNotice | null): void;
  /** Clears this notice, unless another one is shown. */
  withdraw(notice: ScreenNotice): void;
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
    withdraw: (notice) => store.setState((state) => (state.notice === notice ? { notice: null } : state)),
  };
}

export function topOf<Route>({ stack: [root, ...rest] }: NavigationState<Route>): Route {
  return rest.at(-1) ?? root;
}
