import { useMemo } from 'react';
import { rowColumns, rowsAside, rowsLine } from '../../src/operations/snapshots/rows-text.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import { ListFrame } from '../app/frame/list-frame.tsx';
import { BACK, HELP, MOVES, PALETTE } from '../app/keys.ts';
import { rowsByIndex } from '../app/lists/in-view.ts';
import type { ScreenModule } from '../app/model.ts';
import { EMPTY, LOADING } from '../app/text.ts';
import { toggleRevealed } from '../commands/rows.ts';
import { type RowsRoute, scrollColumns } from './rows-route.ts';

export const rowsScreen: ScreenModule<RowsRoute> = {
  id: 'rows',
  title: 'Rows of a table',
  view: RowsView,
  keys: [
    { ...BACK, keys: ['esc'] },
    {
      id: 'reveal',
      label: 'reveal',
      help: 'show or mask values that look like personal data',
      whyNot: ({ route }) =>
        route.found?.columns.some(({ personal }) => personal !== null) ? null : 'No column looks like personal data',
      run: toggleRevealed,
    },
    {
      keys: ['right'],
      label: 'next columns',
      help: 'scroll the columns to the left, by one',
      run: (model, route) => scrollColumns(model, route, 1),
      palette: false,
    },
    {
      keys: ['left'],
      help: 'scroll the columns back, by one',
      run: (model, route) => scrollColumns(model, route, -1),
      palette: false,
    },
    PALETTE,
    HELP,
    ...MOVES,
  ],
  rows: (_, { found }) => rowsByIndex(found?.rows ?? []),
  linesAboveRows: () => 2,
  selected: (_, { snapshot }) => ({ snapshot }),
};

function RowsView({ route }: { route: RowsRoute }) {
  const { target, snapshot, table, found, scrolled } = route;
  const rows = useMemo(() => found?.rows ?? [], [found]);
  const columns = useMemo(
    () =>
      rowColumns(found?.columns ?? [])
        .slice(scrolled)
        .map((column, dropRank) => ({ ...column, dropRank })),
    [found, scrolled],
  );
  return (
    <ListFrame
      route={route}
      path={[target, briefName(snapshot), table]}
      {...(found && {
        aside: [{ text: rowsAside(found, scrolled), tone: 'dim' }],
        above: [{ text: `  ${rowsLine(found)}`, tone: 'dim' }],
      })}
      columns={columns}
      rows={rows}
      empty={found ? EMPTY.rows : LOADING.rows}
    />
  );
}
