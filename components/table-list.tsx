import { Box } from 'ink';
import { useMemo } from 'react';
import type { Column } from '../src/presentation/shapes/column.ts';
import { layOutTable } from '../src/presentation/shapes/table-layout.ts';
import { Line } from './line.tsx';
import { List } from './list.tsx';
import { tableHead, tableRow } from './table.ts';
import { useTheme } from './theme.ts';

export interface TableListProps<Row> {
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  selected: number;
  width: number;
  height: number;
}

const POINTER_WIDTH = 2;

/** Pass the same `columns` object in every frame: the layout is memoized. */
export function TableList<Row>({ columns, rows, keyOf, selected, width, height }: TableListProps<Row>) {
  const { glyphs } = useTheme();
  const inner = width - POINTER_WIDTH - 1;
  const layout = useMemo(() => layOutTable(columns, rows, inner), [columns, rows, inner]);
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
      />
    </Box>
  );
}
