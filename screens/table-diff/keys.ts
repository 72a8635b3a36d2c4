import type { Move } from '../../src/state/list.ts';
import { HELP, MOVES_WITHOUT_TAB, PALETTE } from '../app/keys.ts';
import { FILTER } from '../app/lists/filter.ts';
import { GRID_BACK, gridKeys, isRecord, moveInGrid } from '../app/lists/grid-keys.ts';
import { type Rows, rowsByIndex } from '../app/lists/in-view.ts';
import type { KeyBinding, Model } from '../app/model.ts';
import { movedIn } from '../app/navigate.ts';
import { toggleRevealed } from '../commands/table-diff.ts';
import {
  activePane,
  changedIn,
  definitionOf,
  recordsInView,
  scrollingColumns,
  type TableDiffRoute,
} from './table-diff-route.ts';

export const TABLE_DIFF_KEYS: KeyBinding<TableDiffRoute>[] = [
  ...gridKeys<TableDiffRoute>(scrollingColumns),
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
  {
    id: 'changed_columns',
    label: 'changed columns',
    help: 'changed columns only, or all',
    when: isGrid,
    whyNot: ({ route }) =>
      route.found && changedIn(route.found) > 0 ? null : 'No values of rows in both states differ',
    run: ({ navigation }, route) => navigation.replace({ ...route, onlyChanged: !route.onlyChanged, scrolled: 0 }),
    palette: false,
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
    help: 'definition, or rows',
    when: (context) => isGrid(context) && definitionOf(context.route).length > 0,
    run: ({ navigation }, route) =>
      navigation.replace({ ...route, pane: activePane(route) === 'rows' ? 'definition' : 'rows' }),
  },
  GRID_BACK,
  PALETTE,
  HELP,
  ...MOVES_WITHOUT_TAB,
];

function isGrid({ route }: { route: TableDiffRoute }): boolean {
  return !isRecord({ route }) && scrollingColumns(route) > 0;
}

/** The rows of the pane with the keys; a whole record is one of the rows. */
export function rowsOf(route: TableDiffRoute): Rows {
  return isDefinition(route) ? rowsByIndex(definitionOf(route)) : recordsInView(route);
}

function isDefinition(route: TableDiffRoute): boolean {
  return !isRecord({ route }) && activePane(route) === 'definition';
}

export function moveWithin(model: Model, route: TableDiffRoute, move: Move): void {
  if (!isDefinition(route)) {
    moveInGrid(model, route, move);
    return;
  }
  const definition = movedIn(model, { list: route.definition, rows: rowsOf(route), move });
  model.navigation.replace({ ...route, definition });
}
