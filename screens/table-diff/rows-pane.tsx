import { Box } from 'ink';
import { useMemo } from 'react';
import { DETAIL_ROWS, TitledRule } from '../../components/detail-pane.tsx';
import { Empty } from '../../components/empty.tsx';
import { FilterLine } from '../../components/filter-line.tsx';
import { GRID_MARGIN, GridView } from '../../components/grid.tsx';
import { Lines } from '../../components/line.tsx';
import { listPanes } from '../../components/list-panes.ts';
import { useTheme } from '../../components/theme.ts';
import { type RecordField, recordLines, unchangedText } from '../../src/operations/snapshots/diff/record-text.ts';
import { type DiffRecord, diffGrid, recordFields, recordTitle } from '../../src/operations/snapshots/diff/rows-grid.ts';
import { fullGridWidth, type Grid, layOutGrid } from '../../src/presentation/shapes/grid.ts';
import { useRoom } from '../app/frame/frame.tsx';
import { positionIn } from '../app/lists/in-view.ts';
import { noMatchLines } from '../app/text.ts';
import { activePane, recordsInView, type TableDifference, type TableDiffRoute } from './table-diff-route.ts';

interface RowsPaneProps {
  route: TableDiffRoute;
  found: TableDifference;
  width: number;
  height: number;
}

/** The changed rows as a grid; beside or below it the changed columns of the selected one. */
export function RowsPane({ route, found, width, height: all }: RowsPaneProps) {
  const { wide } = useRoom();
  const { list, typing, scrolled } = route;
  const { rows, records } = found;
  const inView = recordsInView(route);
  const grid = useMemo(() => rows && diffGrid(rows, records), [rows, records]);
  if (!rows || !grid) return null;
  const isFiltering = typing !== null || list.filter !== '';
  const height = all - (isFiltering ? 1 : 0);
  const panes = listPanes({ width, height, wide, needed: fullGridWidth(grid) + GRID_MARGIN });
  const { listWidth } = panes;
  const place = panes.place === 'none' && hasRoomBelow(grid, height) ? 'below' : panes.place;
  const layout = layOutGrid(grid, { scrolled, width: listWidth - GRID_MARGIN });
  const selected = positionIn(inView, list.selected);
  const record = inView.records[selected];
  return (
    <>
      {isFiltering && <FilterLine typing={typing} filter={list.filter} width={width} />}
      {record === undefined && <Empty lines={noMatchLines('rows')} />}
      {record && (
        <Box flexDirection={place === 'beside' ? 'row' : 'column'} flexShrink={0}>
          <GridView
            grid={{ ...grid, rows: inView.records }}
            layout={layout}
            keyOf={(index) => inView.ids[index] ?? ''}
            selected={selected}
            width={listWidth}
            height={height - (place === 'below' ? DETAIL_ROWS : 0)}
            isActive={activePane(route) === 'rows'}
          />
          {place !== 'none' && (
            <RecordPane
              title={recordTitle(record, rows, selected)}
              {...recordFields(record, { rows, records, isWhole: false })}
              width={place === 'beside' ? width - listWidth : width}
              height={place === 'beside' ? height : DETAIL_ROWS}
            />
          )}
        </Box>
      )}
    </>
  );
}

/** Few rows leave room for the pane in a low window. */
function hasRoomBelow({ rows, height: linesOf }: Grid<DiffRecord>, height: number): boolean {
  const room = height - DETAIL_ROWS - 1;
  return rows.length <= room && rows.reduce((lines, row) => lines + linesOf(row), 0) <= room;
}

interface RecordPaneProps {
  title: string;
  fields: RecordField[];
  unchanged: number;
  width: number;
  height: number;
}

const MARGIN = 2;

function RecordPane({ title, fields, unchanged, width, height }: RecordPaneProps) {
  const { glyphs } = useTheme();
  const all = recordLines(fields, { width: width - MARGIN * 2, glyphs, isBrief: true });
  const last = unchanged > 0 ? [[{ text: unchangedText(unchanged), tone: 'dim' as const }]] : [];
  const room = height - 1 - last.length;
  const shown =
    all.length <= room ? all : [...all.slice(0, room - 1), [{ text: glyphs.ellipsis, tone: 'dim' as const }]];
  return (
    <Box flexDirection="column" width={width} height={height} overflow="hidden" flexShrink={0}>
      <TitledRule title={[{ text: title, tone: 'strong' }]} width={width} />
      <Box flexDirection="column" paddingLeft={MARGIN} flexShrink={0}>
        <Lines lines={[...shown, ...last]} width={width - MARGIN * 2} />
      </Box>
    </Box>
  );
}
