import { Box } from 'ink';
import { GAP, type TableLayout } from '../src/presentation/shapes/table-layout.ts';
import { fitCell, fitCells } from '../src/text/text-width.ts';
import { Line, type Span } from './line.tsx';
import { List } from './list.tsx';
import { useTheme } from './theme.ts';

export interface TableListProps<Row> {
  layout: TableLayout<Row>;
  rows: Row[];
  keyOf: (row: Row, index: number) => string;
  selected: number;
  width: number;
  height: number;
  isActive?: boolean | undefined;
}

const POINTER_WIDTH = 2;

/** Cells of a list beside its columns: the pointer, and one at the right. */
export const LIST_MARGIN = POINTER_WIDTH + 1;

export function TableList<Row>({ layout, rows, keyOf, selected, width, height, isActive = true }: TableListProps<Row>) {
  const { glyphs } = useTheme();
  return (
    <Box flexDirection="column" width={width} height={height}>
      <Line spans={[{ text: ' '.repeat(POINTER_WIDTH) }, ...tableHead(layout, glyphs.ellipsis)]} width={width} />
      <List
        items={rows}
        keyOf={keyOf}
        row={(row) => tableRow(layout, row, glyphs.ellipsis)}
        selected={selected}
        width={width}
        height={Math.max(1, height - 1)}
        isActive={isActive}
      />
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
