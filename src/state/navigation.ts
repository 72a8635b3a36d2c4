import { createStore, type StoreApi } from 'zustand/vanilla';

/** Where one is: the places one came through, the present one last. A place carries all that its screen shows. */
export interface NavigationState<Place> {
  stack: [Place, ...Place[]];
  /** What was done last, or why something cannot be done; gone with the next key. */
  notice: Notice | null;
}

export interface Notice {
  tone: 'good' | 'caution' | 'bad' | 'plain';
  text: string;
}

export interface Navigation<Place> {
  store: StoreApi<NavigationState<Place>>;
  top(): Place;
  push(place: Place): void;
  /** Back by one level; at the root it does nothing. */
  pop(): void;
  /** The present place with changes, or another one instead of it. */
  replace(place: Place): void;
  /** Every place on the way, such as one that something was found for while another is shown. */
  change(update: (place: Place) => Place): void;
  notify(notice: Notice | null): void;
}

export function createNavigation<Place>(stack: [Place, ...Place[]]): Navigation<Place> {
  const store = createStore<NavigationState<Place>>(() => ({ stack, notice: null }));
  return {
    store,
    top: () => topOf(store.getState()),
    push: (place) => store.setState(({ stack }) => ({ stack: [...stack, place] })),
    pop: () => store.setState(({ stack: [root, ...rest] }) => ({ stack: [root, ...rest.slice(0, -1)] })),
    replace: (place) =>
      store.setState(({ stack: [root, ...rest] }) => ({
        stack: rest.length === 0 ? [place] : [root, ...rest.slice(0, -1), place],
      })),
    change: (update) =>
      store.setState(({ stack: [root, ...rest] }) => ({ stack: [update(root), ...rest.map(update)] })),
    notify: (notice) => store.setState({ notice }),
  };
}

export function topOf<Place>({ stack: [root, ...rest] }: NavigationState<Place>): Place {
  return rest.at(-1) ?? root;
}
