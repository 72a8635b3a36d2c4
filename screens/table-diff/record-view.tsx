import { recordFields, recordTitle } from '../../src/operations/snapshots/diff/rows-grid-text.ts';
import { RecordPage } from '../app/frame/record-page.tsx';
import { positionIn } from '../app/lists/in-view.ts';
import { recordsInView, type TableDifference, type TableDiffRoute } from './table-diff-route.ts';

export function RecordView({ route, found: { rows, records } }: { route: TableDiffRoute; found: TableDifference }) {
  const { target, table, list, record: scrolled } = route;
  const inView = recordsInView(route);
  const index = positionIn(inView, list.selected);
  const record = inView.records[index];
  if (!rows || !record) return null;
  return (
    <RecordPage
      screen="table-diff"
      path={[target, table, recordTitle(record, rows, index)]}
      fields={recordFields(record, { rows, records, isWhole: true }).fields}
      scrolled={scrolled ?? 0}
    />
  );
}
