import { diffRecords } from '../../src/operations/snapshots/diff/rows-grid-text.ts';
import { emptyList } from '../../src/state/list.ts';
import { fetchInto, notFetched, showWhileFetching } from '../app/lists/fetched.ts';
import { type Model, quietly } from '../app/model.ts';
import type { TableDifference, TableDiffRoute } from '../table-diff/table-diff-route.ts';

/** Rows of each kind that the screen shows of a table. */
export const SCREEN_ROWS = 200;

type Difference = Pick<TableDiffRoute, 'target' | 'sides' | 'table' | 'read'> & { revealed?: boolean };

/** Shows a table in two states. */
export function openDifference(model: Model, { revealed = false, ...of }: Difference): void {
  const route: TableDiffRoute = {
    ...{
      screen: 'table-diff',
      ...of,
      revealed,
      onlyChanged: false,
      scrolled: 0,
      pane: 'rows',
      record: null,
      definition: emptyList,
    },
    ...{ list: emptyList, typing: null, ...notFetched<TableDifference>() },
  };
  showWhileFetching(model, route, readerOf(route));
}

/** Shows a table in two snapshots. */
export function openTableDiff(
  model: Model,
  { a, b, ...of }: Pick<TableDiffRoute, 'target' | 'sides' | 'table'> & { a: string; b: string },
): void {
  const { target, table } = of;
  openDifference(model, {
    ...of,
    read: (reveal, signal) =>
      model.operations.diffTable(quietly(signal), { target, a, b, table, reveal, original: false, limit: SCREEN_ROWS }),
  });
}

/** Values that look like personal data are read again, and only while they are shown. */
export function toggleRevealed(model: Model, route: TableDiffRoute): void {
  const next = { ...route, ...notFetched<TableDifference>(), revealed: !route.revealed };
  route.controller.abort();
  model.navigation.replace(next);
  fetchInto(model, next, readerOf(next));
}

function readerOf({ read, revealed }: TableDiffRoute) {
  return async (signal: AbortSignal): Promise<TableDifference> => {
    const { definition, rows, rows_not_compared } = await read(revealed, signal);
    return { definition, rows, rows_not_compared, records: rows ? diffRecords(rows) : [] };
  };
}
