import { Box } from 'ink';
import { useMemo } from 'react';
import type { Column } from '../src/presentation/shapes/column.ts';
import type { Fact } from '../src/presentation/shapes/fact.ts';
import {
  fullWidth,
  layOutMeasured,
  measureColumns,
  type TableLayout,
} from '../src/presentation/shapes/table-layout.ts';
import type { UserError } from '../src/runtime/errors.ts';
import { cellWidth, wrap } from '../src/text/text-width.ts';
import { DETAIL_ROWS, DetailPane } from './detail-pane.tsx';
import { Empty, Failure } from './empty.tsx';
import { Lines, type Span } from './line.tsx';
import { LIST_MARGIN, TableList, tableRow } from './table-list.tsx';
import { useTheme } from './theme.ts';

export interface ListViewProps<Row> {
  /** The same object in every frame: the layout is memoized. */
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row, index: number) => string;
  /** Index. */
  selected: number;
  width: number;
  height: number;
  /** Instead of the rows. */
  error?: UserError | null;
  /** In place of rows where there are none. */
  empty: string[];
  detail?: ((row: Row) => { title: string | Span[]; facts: Fact[] }) | undefined;
  /** The details are in a pane of their own. */
  hasFacts?: boolean;
  /** Details beside the list instead of below it, where that costs no column. */
  wide?: boolean;
  isActive?: boolean | undefined;
}

export function ListView<Row>(props: ListViewProps<Row>) {
  const { columns, rows, keyOf, selected, width, height, error = null, empty, detail, isActive } = props;
  const { wide = false, hasFacts = false } = props;
  const { glyphs } = useTheme();
  const mayShowDetail = wide && detail !== undefined;
  const measured = useMemo(() => measureColumns(columns, rows), [columns, rows]);
  const needed = mayShowDetail ? fullWidth(measured) : 0;
  const { place, listWidth } = listPanes({ width, height, wide: mayShowDetail, needed });
  const layout = useMemo(() => layOutMeasured(measured, rows, listWidth - LIST_MARGIN), [rows, listWidth, measured]);
  if (error) return <Failure error={error} width={width} />;
  if (rows.length === 0) return <Empty lines={empty} />;
  const row = rows[selected];
  const shown = row !== undefined && place !== 'none' ? detail?.(row) : undefined;
  const beside = place === 'beside';
  const texts = row === undefined || shown || hasFacts ? [] : essentialTexts(columns, layout, row);
  const below = texts.flatMap((text) => wrap(text, width - LIST_MARGIN)).slice(0, Math.max(0, height - 2));
  const most = height - (shown && !beside ? DETAIL_ROWS : below.length);
  // In a large window the details follow the rows, not far below them.
  const listHeight = shown && wide && !beside ? Math.min(most, rows.length + 2) : most;
  return (
    <Box flexDirection={beside ? 'row' : 'column'}>
      <TableList
        layout={layout}
        items={rows}
        row={(one) => tableRow(layout, one, glyphs.ellipsis)}
        keyOf={keyOf}
        selected={selected}
        width={listWidth}
        height={listHeight}
        {...(isActive !== undefined && { isActive })}
      />
      <Lines lines={below.map((text) => [{ text: `  ${text}`, tone: 'dim' }])} width={width} />
      {shown && (
        <DetailPane
          title={typeof shown.title === 'string' ? [{ text: shown.title, tone: 'strong' }] : shown.title}
          facts={shown.facts}
          width={beside ? width - listWidth : width}
          {...(!beside && { height: height - listHeight })}
        />
      )}
    </Box>
  );
}

export interface ListPanes {
  place: 'beside' | 'below' | 'none';
  /** Cells of the list. */
  listWidth: number;
}

interface ListRoom {
  width: number;
  height: number;
  /** There is room for details beside the list. */
  wide: boolean;
  /** The width at which the table drops no column. */
  needed: number;
}

/** Cells of details beside a list, at least. */
const LEAST_DETAILS = 40;
/** In fewer rows there is no pane below the list. */
const BELOW_FROM = 16;

/** Details stand beside the list only where that costs the list no column. */
export function listPanes({ width, height, wide, needed }: ListRoom): ListPanes {
  const most = width - LEAST_DETAILS;
  const list = needed + LIST_MARGIN;
  if (wide && list <= most) {
    return { place: 'beside', listWidth: Math.min(most, Math.max(list, Math.floor(width * 0.6))) };
  }
  return { place: height >= BELOW_FROM ? 'below' : 'none', listWidth: width };
}

/** `NOTE: before the release`: what must not be cut of the selected row, where its column is cut or dropped. */
export function essentialTexts<Row>(columns: Column<Row>[], { columns: shown }: TableLayout<Row>, row: Row): string[] {
  return columns.flatMap(({ title, cell, essential = false }) => {
    const { text } = cell(row);
    const width = shown.find(({ column }) => column.title === title)?.width ?? 0;
    return essential && text.trim() !== '' && cellWidth(text) > width ? [`${title}: ${text}`] : [];
  });
}
