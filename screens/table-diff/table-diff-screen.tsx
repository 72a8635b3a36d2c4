import { Empty, Failure } from '../../components/empty.tsx';
import { recordFields, recordTitle } from '../../src/operations/snapshots/diff/rows-grid-text.ts';
import { Frame, useRoom } from '../app/frame/frame.tsx';
import { RecordPage } from '../app/frame/text-page.tsx';
import { FILTERED } from '../app/lists/filter.ts';
import { positionIn } from '../app/lists/in-view.ts';
import type { ScreenModule } from '../app/model.ts';
import { LOADING } from '../app/text.ts';
import { DifferenceView, linesAbove, sidesAside } from './difference-view.tsx';
import { moveWithin, rowsOf, TABLE_DIFF_KEYS } from './keys.ts';
import { recordsInView, type TableDifference, type TableDiffRoute } from './table-diff-route.ts';

export const tableDiffScreen: ScreenModule<TableDiffRoute> = {
  title: 'Differences of a table',
  view: TableDiffView,
  keys: TABLE_DIFF_KEYS,
  rows: (_, route) => rowsOf(route),
  onMove: moveWithin,
  ...FILTERED,
  linesAboveRows: linesAbove,
};

function TableDiffView({ route }: { route: TableDiffRoute }) {
  const { columns: width } = useRoom();
  const { target, table, sides, found, error, record } = route;
  if (found)
    return record === null ? (
      <DifferenceView route={route} found={found} />
    ) : (
      <RecordView route={route} found={found} />
    );
  return (
    <Frame path={[target, table]} aside={sidesAside({ target, table, sides }, width)}>
      {error ? <Failure error={error} width={width} /> : <Empty lines={LOADING.difference} />}
    </Frame>
  );
}

function RecordView({ route, found: { rows, records } }: { route: TableDiffRoute; found: TableDifference }) {
  const { target, table, list, record: scrolled } = route;
  const inView = recordsInView(route);
  const index = positionIn(inView, list.selected);
  const record = inView.records[index];
  if (!rows || !record) return null;
  return (
    <RecordPage
      path={[target, table, recordTitle(record, rows, index)]}
      fields={recordFields(record, { rows, records, isWhole: true }).fields}
      scrolled={scrolled ?? 0}
    />
  );
}
