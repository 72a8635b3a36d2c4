import { useMemo } from 'react';
import { Empty, Failure } from '../../components/empty.tsx';
import { Line } from '../../components/line.tsx';
import { rowFields, rowsGrid, rowTitle } from '../../src/operations/snapshots/rows/rows-grid-text.ts';
import { rowsAside, rowsLine } from '../../src/operations/snapshots/rows/rows-text.ts';
import { briefName } from '../../src/presentation/snapshot.ts';
import type { RowsResult } from '../../src/results/review/rows-results.ts';
import { Frame, useRoom } from '../app/frame/frame.tsx';
import { GridPane } from '../app/frame/grid-pane.tsx';
import { RecordPage } from '../app/frame/text-page.tsx';
import { LIST_KEYS } from '../app/keys.ts';
import { GRID_BACK, gridKeys } from '../app/lists/grid-keys.ts';
import { positionIn, rowsByIndex } from '../app/lists/in-view.ts';
import type { ScreenModule } from '../app/model.ts';
import { EMPTY, LOADING } from '../app/text.ts';
import { moveInRows, type RowsRoute, toggleRevealed } from '../commands/rows.ts';

export const rowsScreen: ScreenModule<RowsRoute> = {
  title: 'Rows of a table',
  view: RowsView,
  keys: [
    ...gridKeys<RowsRoute>(({ found }) => (found && found.rows.length > 0 ? scrollingColumns(found) : 0)),
    {
      id: 'reveal',
      label: 'reveal',
      help: 'show or mask values that look like personal data',
      whyNot: ({ route }) =>
        route.found?.columns.some(({ personal }) => personal !== null) ? null : 'No column looks like personal data',
      run: toggleRevealed,
    },
    GRID_BACK,
    ...LIST_KEYS,
  ],
  rows: (_, { found }) => rowsByIndex(found?.rows ?? []),
  onMove: moveInRows,
  linesAboveRows: () => 2,
  selected: (_, { snapshot }) => ({ snapshot }),
};

function scrollingColumns({ columns, key = [] }: RowsResult): number {
  return Math.max(1, columns.length - key.length);
}

function RowsView({ route }: { route: RowsRoute }) {
  const { columns: width } = useRoom();
  const { target, snapshot, table, found, error, list, record } = route;
  const path = [target, briefName(snapshot), table];
  const selected = positionIn(rowsByIndex(found?.rows ?? []), list.selected);
  const row = found?.rows[selected];
  if (found && row && record !== null) {
    const fields = rowFields(found, selected);
    return <RecordPage path={[...path, rowTitle(found, selected)]} fields={fields} scrolled={record} />;
  }
  return (
    <Frame path={path} aside={found ? [{ text: rowsAside(found, route.scrolled), tone: 'dim' }] : []}>
      {error && <Failure error={error} width={width} />}
      {!error && !row && <Empty lines={found ? EMPTY.rows : LOADING.rows} />}
      {found && row && <FoundRows found={found} selected={selected} scrolled={route.scrolled} />}
    </Frame>
  );
}

function FoundRows({ found, selected, scrolled }: { found: RowsResult; selected: number; scrolled: number }) {
  const { columns: width, height } = useRoom();
  const grid = useMemo(() => rowsGrid(found), [found]);
  const { ids } = useMemo(() => rowsByIndex(found.rows), [found]);
  return (
    <>
      <Line spans={[{ text: `  ${rowsLine(found)}`, tone: 'dim' }]} width={width} />
      <GridPane
        grid={grid}
        ids={ids}
        selected={selected}
        record={() => ({ title: rowTitle(found, selected), fields: rowFields(found, selected) })}
        scrolled={scrolled}
        width={width}
        height={height - 1}
      />
    </>
  );
}
