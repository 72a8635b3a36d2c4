import type { ListState, Move } from '../../../src/state/list.ts';
import { BACK } from '../keys.ts';
import { type KeyBinding, type Model, screenOf } from '../model.ts';
import { movedIn, scrolledDown } from '../navigate.ts';
import type { Route } from '../route.ts';

/** The part of a route with a grid of records, of which one can be shown as a whole. */
export interface GridState {
  /** Columns that are scrolled out at the left. */
  scrolled: number;
  /** Lines that the whole record is scrolled; `null` while it is not shown. */
  record: number | null;
  list: ListState;
}

type GridRoute = Extract<Route, GridState>;

export function isRecord({ route }: { route: GridState }): boolean {
  return route.record !== null;
}

/** Keys that scroll the columns (none where there are no rows), and open, change and close the whole record. */
export function gridKeys<Own extends GridRoute>(columns: (route: Own) => number): KeyBinding<Own>[] {
  const isGrid = ({ route }: { route: Own }): boolean => !isRecord({ route }) && columns(route) > 0;
  const scroll = ({ navigation }: Model, route: Own, by: number): void => {
    const scrolled = Math.min(columns(route) - 1, Math.max(0, route.scrolled + by));
    navigation.replace({ ...route, scrolled });
  };
  return [
    {
      ...{ keys: ['enter'], label: 'record', help: 'the whole row', when: isGrid },
      run: ({ navigation }, route) => navigation.replace({ ...route, record: 0 }),
    },
    {
      ...{ keys: ['right'], label: 'columns', when: isGrid },
      help: 'next columns; the key stays',
      run: (model, route) => scroll(model, route, 1),
    },
    {
      ...{ keys: ['left'], help: 'columns before', when: isGrid },
      run: (model, route) => scroll(model, route, -1),
    },
    {
      ...{ keys: ['right'], label: 'next row', help: 'next row', when: isRecord },
      run: (model, route) => otherRecord(model, route, 'down'),
    },
    {
      ...{ keys: ['left'], help: 'row before', when: isRecord },
      run: (model, route) => otherRecord(model, route, 'up'),
    },
    {
      ...{ keys: ['esc', 'enter'], label: 'all rows', help: 'all rows', when: isRecord, stays: true },
      run: ({ navigation }, route) => navigation.replace({ ...route, record: null }),
    },
  ];
}

/** After the key that clears a filter. */
export const GRID_BACK: KeyBinding<GridRoute> = {
  ...BACK,
  keys: ['esc'],
  when: (context) => !isRecord(context),
};

function otherRecord(model: Model, route: GridRoute, move: Move): void {
  model.navigation.replace({ ...movedInGrid(model, route, move), record: 0 });
}

/** Scrolls the whole record, or moves the selection. */
export function moveInGrid(model: Model, route: GridRoute, move: Move): void {
  model.navigation.replace(
    route.record === null
      ? movedInGrid(model, route, move)
      : { ...route, record: scrolledDown(model, route.record, move) },
  );
}

function movedInGrid(model: Model, route: GridRoute, move: Move): GridRoute {
  const rows = screenOf(model, route).rows?.(model, route) ?? { ids: [] };
  return { ...route, list: movedIn(model, { list: route.list, rows, move }) };
}
