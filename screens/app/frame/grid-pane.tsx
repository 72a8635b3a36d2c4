import { Box } from 'ink';
import { DETAIL_ROWS, TitledRule } from '../../../components/detail-pane.tsx';
import { GridView, gridMargin } from '../../../components/grid.tsx';
import { Lines } from '../../../components/line.tsx';
import { listPanes } from '../../../components/list-view.tsx';
import { useTheme } from '../../../components/theme.ts';
import { type RecordField, recordLines, unchangedText } from '../../../src/operations/snapshots/diff/record-text.ts';
import { fullGridWidth, type Grid, layOutGrid } from '../../../src/presentation/shapes/grid.ts';
import { useRoom } from './frame.tsx';

export interface ShownRecord {
  title: string;
  fields: RecordField[];
  /** Columns that are not shown, since they did not change. */
  unchanged?: number;
}

export interface GridPaneProps<Row> {
  grid: Grid<Row>;
  /** Identities of the rows of the grid. */
  ids: string[];
  selected: number;
  record: (row: Row) => ShownRecord;
  /** Columns that are scrolled out at the left. */
  scrolled: number;
  width: number;
  height: number;
  isActive?: boolean;
}

/** Rows as a grid; beside or below it the selected one, a line for each column. */
export function GridPane<Row>({
  grid,
  ids,
  selected,
  record,
  scrolled,
  width,
  height,
  isActive = true,
}: GridPaneProps<Row>) {
  const { wide } = useRoom();
  const margin = gridMargin(grid);
  const panes = listPanes({ width, height, wide, needed: fullGridWidth(grid) + margin });
  const { listWidth } = panes;
  const place = panes.place === 'none' && hasRoomBelow(grid, height) ? 'below' : panes.place;
  const layout = layOutGrid(grid, { scrolled, width: listWidth - margin });
  const row = grid.rows[selected];
  const isWide = place === 'beside';
  return (
    <Box flexDirection={isWide ? 'row' : 'column'} flexShrink={0}>
      <GridView
        grid={grid}
        layout={layout}
        keyOf={(index) => ids[index] ?? ''}
        selected={selected}
        width={listWidth}
        height={height - (place === 'below' ? DETAIL_ROWS : 0)}
        isActive={isActive}
      />
      {row !== undefined && place !== 'none' && (
        <RecordPane
          {...record(row)}
          width={isWide ? width - listWidth : width}
          height={isWide ? height : DETAIL_ROWS}
        />
      )}
    </Box>
  );
}

/** Few rows leave room for the pane in a low window. */
function hasRoomBelow<Row>({ rows, height: linesOf }: Grid<Row>, height: number): boolean {
  const room = height - DETAIL_ROWS - 1;
  return rows.length <= room && rows.reduce((lines, row) => lines + linesOf(row), 0) <= room;
}

interface RecordPaneProps extends ShownRecord {
  width: number;
  height: number;
}

const MARGIN = 2;

function RecordPane({ title, fields, unchanged = 0, width, height }: RecordPaneProps) {
  const { glyphs } = useTheme();
  const all = recordLines(fields, { width: width - MARGIN * 2, glyphs, isBrief: true });
  const last = unchanged > 0 ? [[{ text: unchangedText(unchanged), tone: 'dim' as const }]] : [];
  const room = height - 1 - last.length;
  const more = [{ text: glyphs.ellipsis, tone: 'dim' as const }];
  const shown = all.length <= room ? all : [...all.slice(0, room - 1), more];
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden" flexShrink={0}>
      <TitledRule title={[{ text: title, tone: 'strong' }]} width={width} />
      <Box flexDirection="column" paddingLeft={MARGIN} flexShrink={0}>
        <Lines lines={[...shown, ...last]} width={width - MARGIN * 2} />
      </Box>
    </Box>
  );
}
