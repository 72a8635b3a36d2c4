import { useMemo } from 'react';
import { Line, type Span } from '../../components/line.tsx';
import { ListView } from '../../components/list-view.tsx';
import { rowColumns, rowsAside, rowsLine } from '../../src/operations/snapshots/rows-text.ts';
import type { Column } from '../../src/presentation/shapes/column.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import { Frame, useRoom } from '../app/frame.tsx';
import { positionIn, rowsByIndex } from '../app/in-view.ts';
import { BACK, HELP, MOVES, PALETTE } from '../app/keys.ts';
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
      keys: ['z'],
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

/** A row with its index, which is its identity. */
interface NumberedRow {
  index: number;
  values: (string | null)[];
}

function RowsView({ route }: { route: RowsRoute }) {
  const { columns: width, height } = useRoom();
  const { target, snapshot, table, found, error, list, scrolled } = route;
  const rows = useMemo(() => (found?.rows ?? []).map((values, index): NumberedRow => ({ index, values })), [found]);
  const columns = useMemo(
    () =>
      rowColumns(found?.columns ?? [])
        .slice(scrolled)
        .map(
          ({ title, cell }, dropRank): Column<NumberedRow> => ({ title, dropRank, cell: ({ values }) => cell(values) }),
        ),
    [found, scrolled],
  );
  const title: Span[] = found ? [{ text: `  ${rowsLine(found)}`, tone: 'dim' }] : [];
  return (
    <Frame
      screen="rows"
      path={[target, briefName(snapshot), table]}
      aside={found ? [{ text: rowsAside(found, scrolled), tone: 'dim' }] : []}
    >
      {found && <Line spans={title} width={width} />}
      <ListView
        columns={columns}
        rows={rows}
        keyOf={({ index }) => String(index)}
        selected={positionIn(rowsByIndex(rows), list.selected)}
        width={width}
        height={found ? height - 1 : height}
        error={error}
        empty={found ? EMPTY.rows : LOADING.rows}
      />
    </Frame>
  );
}
