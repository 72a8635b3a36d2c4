import { Box } from 'ink';
import { GAP, type TableLayout } from '../src/presentation/shapes/table-layout.ts';
import { fitCell, fitCells } from '../src/text/text-width.ts';
import { Line, type Span } from './line.tsx';
import { List, type ListProps } from './list.tsx';
import { useTheme } from './theme.ts';

/** The items of the list are the rows, or headings between them. */
export interface TableListProps<Row, Item> extends ListProps<Item> {
  layout: TableLayout<Row>;
}

const POINTER_WIDTH = 2;

/** Cells of a list beside its columns: the pointer, and one at the right. */
export const LIST_MARGIN = POINTER_WIDTH + 1;

export function TableList<Row, Item>({ layout, ...list }: TableListProps<Row, Item>) {
  const { glyphs } = useTheme();
  return (
    <Box flexDirection="column" width={list.width} height={list.height}>
      <Line spans={[{ text: ' '.repeat(POINTER_WIDTH) }, ...tableHead(layout, glyphs.ellipsis)]} width={list.width} />
      <List {...list} height={Math.max(1, list.height - 1)} />
    </Box>
  );
}

export function tableHead<Row>({ columns }: TableLayout<Row>, ellipsis: string): Span[] {
  return joined(
    columns.map(({ column, width }) => ({
      text: fitCells(column.title, width, { align: column.align ?? 'left', ellipsis }),
    })),
  ).map((span) => ({ ...span, tone: 'dim' as const }));
}

export function tableRow<Row>({ columns }: TableLayout<Row>, row: Row, ellipsis: string): Span[] {
  return joined(
    columns.map(({ column, width }) => {
      const { tone = 'plain', ...cell } = column.cell(row);
      return { text: fitCell(cell, width, { align: column.align ?? 'left', ellipsis }), tone };
    }),
  );
}

function joined(cells: Span[]): Span[] {
  return cells.flatMap((cell, index) => (index === 0 ? [cell] : [{ text: ' '.repeat(GAP) }, cell]));
}
