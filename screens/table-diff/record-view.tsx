import { Box } from 'ink';
import { Lines } from '../../components/line.tsx';
import { useTheme } from '../../components/theme.ts';
import { recordLines } from '../../src/operations/snapshots/diff/record-text.ts';
import { recordFields, recordTitle } from '../../src/operations/snapshots/diff/rows-grid.ts';
import { Frame, linesInView, useModel, useRoom } from '../app/frame/frame.tsx';
import { positionIn } from '../app/lists/in-view.ts';
import { recordsInView, type TableDifference, type TableDiffRoute } from './table-diff-route.ts';

/** All columns of one record, with whole values. */
export function RecordView({ route, found }: { route: TableDiffRoute; found: TableDifference }) {
  const { viewport } = useModel();
  const { columns, height } = useRoom();
  const { glyphs } = useTheme();
  const { target, table, list, record: scrolled } = route;
  const inView = recordsInView(route);
  const index = positionIn(inView, list.selected);
  const record = inView.records[index];
  const { rows, records } = found;
  if (!rows || !record) return null;
  const width = columns - 3;
  const { fields } = recordFields(record, { rows, records, isWhole: true });
  const lines = recordLines(fields, { width, glyphs });
  const room = height - 1;
  const furthest = Math.max(0, lines.length - room);
  viewport.furthest = furthest;
  viewport.page = room;
  const from = Math.min(scrolled ?? 0, furthest);
  return (
    <Frame
      screen="table-diff"
      path={[target, table, recordTitle(record, rows, index)]}
      aside={linesInView({ from, rows: room, count: lines.length })}
    >
      <Box flexDirection="column" paddingLeft={2} paddingTop={1}>
        <Lines lines={lines.slice(from, from + room)} width={width} />
      </Box>
    </Frame>
  );
}
