import { Box } from 'ink';
import { useMemo } from 'react';
import type { Column } from '../src/presentation/shapes/column.ts';
import type { Fact } from '../src/presentation/shapes/fact.ts';
import { fullWidth, layOutMeasured, measureColumns } from '../src/presentation/shapes/table-layout.ts';
import type { UserError } from '../src/runtime/errors.ts';
import { wrap } from '../src/text/text-width.ts';
import { DETAIL_ROWS, DetailPane } from './detail-pane.tsx';
import { Empty, Failure } from './empty.tsx';
import { Lines, type Span } from './line.tsx';
import { essentialTexts, listPanes } from './list-panes.ts';
import { LIST_MARGIN, TableList } from './table-list.tsx';

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
  return (
    <Box flexDirection={beside ? 'row' : 'column'}>
      <TableList
        layout={layout}
        rows={rows}
        keyOf={keyOf}
        selected={selected}
        width={listWidth}
        height={height - (shown && !beside ? DETAIL_ROWS : below.length)}
        isActive={isActive}
      />
      <Lines lines={below.map((text) => [{ text: `  ${text}`, tone: 'dim' }])} width={width} />
      {shown && (
        <DetailPane
          title={typeof shown.title === 'string' ? [{ text: shown.title, tone: 'strong' }] : shown.title}
          facts={shown.facts}
          width={beside ? width - listWidth : width}
          place={beside ? 'beside' : 'below'}
        />
      )}
    </Box>
  );
}
