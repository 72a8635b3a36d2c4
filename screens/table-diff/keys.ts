import type { Move } from '../../src/state/list.ts';
import { moveSelection } from '../../src/state/list.ts';
import { BACK, HELP, MOVES_WITHOUT_TAB, PALETTE } from '../app/keys.ts';
import { FILTER } from '../app/lists/filter.ts';
import { positionIn, type Rows, rowsByIndex } from '../app/lists/in-view.ts';
import type { KeyBinding, KeyContext, Model } from '../app/model.ts';
import { pageOf, scrolledDown } from '../app/navigate.ts';
import { toggleRevealed } from '../commands/table-diff.ts';
import { activePane, definitionOf, recordsInView, type TableDiffRoute } from './table-diff-route.ts';

type Context = KeyContext<TableDiffRoute>;

const hasRecords = ({ route }: Context): boolean => (route.found?.records.length ?? 0) > 0;
const isRecord = ({ route }: Context): boolean => route.record !== null;
const isGrid = (context: Context): boolean => hasRecords(context) && !isRecord(context);

export const TABLE_DIFF_KEYS: KeyBinding<TableDiffRoute>[] = [
  {
    keys: ['enter'],
    label: 'record',
    help: 'show all columns of the row',
    when: isGrid,
    run: ({ navigation }, route) => navigation.replace({ ...route, pane: 'rows', record: 0 }),
    palette: false,
  },
  {
    keys: ['right'],
    label: 'columns',
    help: 'scroll the columns to the left, by one; the key stays',
    when: isGrid,
    run: (model, route) => scrollColumns(model, route, 1),
    palette: false,
  },
  {
    keys: ['left'],
    help: 'scroll the columns back, by one',
    when: isGrid,
    run: (model, route) => scrollColumns(model, route, -1),
    palette: false,
  },
  {
    keys: ['right'],
    label: 'next row',
    help: 'show the next row',
    when: isRecord,
    run: (model, route) => otherRecord(model, route, 'down'),
    palette: false,
  },
  {
    keys: ['left'],
    help: 'show the row before',
    when: isRecord,
    run: (model, route) => otherRecord(model, route, 'up'),
    palette: false,
  },
  {
    keys: ['esc', 'enter'],
    label: 'all rows',
    help: 'back to all rows',
    when: isRecord,
    run: ({ navigation }, route) => navigation.replace({ ...route, record: null }),
    stays: true,
    palette: false,
  },
  {
    id: 'reveal',
    keys: ['z'],
    label: 'reveal',
    help: 'show or mask values that look like personal data',
    whyNot: ({ route }) =>
      route.found?.rows?.columns.some(({ personal }) => personal !== null)
        ? null
        : 'No column looks like personal data',
    run: toggleRevealed,
  },
  ...FILTER.map(
    (binding): KeyBinding<TableDiffRoute> => ({
      ...binding,
      when: (context) => isGrid(context) && (binding.when?.(context) ?? true),
    }),
  ),
  {
    keys: ['tab'],
    label: 'pane',
    help: 'move between the definition and the rows',
    when: (context) => isGrid(context) && definitionOf(context.route).length > 0,
    run: ({ navigation }, route) =>
      navigation.replace({ ...route, pane: activePane(route) === 'rows' ? 'definition' : 'rows' }),
    palette: false,
  },
  { ...BACK, keys: ['esc'], when: (context) => !isRecord(context) },
  PALETTE,
  HELP,
  ...MOVES_WITHOUT_TAB,
];

/** By whole columns; one always stays. */
function scrollColumns({ navigation }: Model, route: TableDiffRoute, by: number): void {
  const rows = route.found?.rows;
  const last = Math.max(0, (rows?.columns.length ?? 1) - (rows?.key.length ?? 0) - 1);
  navigation.replace({ ...route, scrolled: Math.min(last, Math.max(0, route.scrolled + by)) });
}

function otherRecord(model: Model, route: TableDiffRoute, move: Move): void {
  model.navigation.replace({ ...moved(model, route, move), record: 0 });
}

export function rowsOf(route: TableDiffRoute): Rows {
  return activePane(route) === 'definition' ? rowsByIndex(definitionOf(route)) : recordsInView(route);
}

export function moveWithin(model: Model, route: TableDiffRoute, move: Move): void {
  model.navigation.replace(
    route.record === null ? moved(model, route, move) : { ...route, record: scrolledDown(model, route.record, move) },
  );
}

function moved(model: Model, route: TableDiffRoute, move: Move): TableDiffRoute {
  const rows = rowsOf(route);
  const list = activePane(route) === 'definition' ? 'definition' : 'list';
  const state = route[list];
  const index = positionIn(rows, state.selected);
  return { ...route, [list]: moveSelection(state, { ids: rows.ids, index, move, page: pageOf(model) }) };
}
