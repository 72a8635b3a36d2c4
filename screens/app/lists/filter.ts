import { type TextEdit, textEdit } from '../../../components/text-edit.ts';
import { type ListState, matchesFilter } from '../../../src/state/list.ts';
import type { KeyBinding, KeyContext, Model } from '../model.ts';
import type { Route } from '../route.ts';

/** The part of a route with a list that a typed text filters. */
export interface FilterState {
  list: ListState;
  /** The filter while it is being typed. */
  typing: TextEdit | null;
}

export type FilteredRoute = Extract<Route, FilterState>;

/** The words that are typed, else those that were. */
export function filterOf({ list, typing }: FilterState): string {
  return typing?.text ?? list.filter;
}

export function isFiltering({ list, typing }: FilterState): boolean {
  return typing !== null || list.filter !== '';
}

/** The items that the filter lets through. */
export function filtered<Item>(route: FilterState, items: Item[], textsOf: (item: Item) => (string | null)[]): Item[] {
  const filter = filterOf(route);
  return filter === '' ? items : items.filter((item) => matchesFilter(filter, textsOf(item)));
}

/** The handlers of a screen with a filtered list. */
export const FILTERED = {
  linesAboveRows: (route: FilteredRoute): number => (isFiltering(route) ? 2 : 1),
  onAccept: (model: Model, route: FilteredRoute): void => keepFilter(model, route, route.typing?.text.trim() ?? ''),
  onLeave: (model: Model, route: FilteredRoute): void => keepFilter(model, route, ''),
  typingHints: [
    { keys: 'Enter', label: 'keep filter', stays: true },
    { keys: '↑↓', label: 'select' },
    { keys: 'Esc', label: 'clear filter', stays: true },
  ],
};

export const FILTER: KeyBinding<FilteredRoute>[] = [
  {
    id: 'filter',
    label: 'filter',
    help: 'show only rows that contain the typed words',
    run: startFilter,
    palette: false,
  },
  {
    keys: ['esc'],
    label: 'clear filter',
    help: 'show all rows again',
    when: isFiltered,
    run: clearFilter,
    stays: true,
  },
];

export function isFiltered({ route }: KeyContext<FilteredRoute>): boolean {
  return route.list.filter !== '';
}

export function startFilter({ navigation }: Model, route: FilteredRoute): void {
  navigation.replace({ ...route, typing: textEdit(route.list.filter) });
}

export function clearFilter({ navigation }: Model, route: FilteredRoute): void {
  navigation.replace({ ...route, list: { ...route.list, filter: '' } });
}

function keepFilter({ navigation }: Model, route: FilteredRoute, filter: string): void {
  const list = { ...route.list, filter };
  navigation.replace({ ...route, list, typing: null } as FilteredRoute);
}
