import { Box } from 'ink';
import { useMemo } from 'react';
import { Line } from './line.tsx';
import { List } from './list.tsx';
import { type Column, layOutTable, tableHead, tableRow } from './table.ts';
import { useTheme } from './theme.ts';

export interface TableListProps<Row> {
  columns: Column<Row>[];
  rows: Row[];
  keyOf: (row: Row) => string;
  /** Index of the row with the pointer. */
  selected: number;
  width: number;
  height: number;
}

const POINTER_WIDTH = 2;

/** A list with columns and their titles. The columns should be the same ones from frame to frame. */
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
