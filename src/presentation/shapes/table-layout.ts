import { cellWidth } from '../../text/text-width.ts';
import type { Column } from './column.ts';

export interface TableLayout<Row> {
  columns: { column: Column<Row>; width: number }[];
}

/** Cells between two columns. */
export const GAP = 2;
const NARROWEST_GROWN = 12;

/** Every column as wide as its widest cell; where room is short, columns are dropped by rank, then the growing one is cut. */
export function layOutTable<Row>(columns: Column<Row>[], rows: Row[], width: number): TableLayout<Row> {
  let fitted = columns.map((column) => ({ column, width: naturalWidth(column, rows) }));
  while (tableWidth(fitted) > width) {
    const last = fitted.reduce((worst, entry) => (dropRank(entry) > dropRank(worst) ? entry : worst));
    if (dropRank(last) === 0) break;
    fitted = fitted.filter((entry) => entry !== last);
  }
  const spare = width - tableWidth(fitted.filter(({ column }) => !column.grows)) - GAP;
  return {
    columns: fitted.map((entry) =>
      entry.column.grows ? { ...entry, width: Math.max(0, Math.min(entry.width, spare)) } : entry,
    ),
  };
}

function naturalWidth<Row>(column: Column<Row>, rows: Row[]): number {
  const widest = rows.reduce(
    (width, row) => Math.max(width, cellWidth(column.cell(row).text)),
    cellWidth(column.title),
  );
  return Math.min(widest, column.max ?? widest);
}

function tableWidth<Row>(columns: { column: Column<Row>; width: number }[]): number {
  const cells = columns.reduce(
    (sum, { column, width }) => sum + (column.grows ? Math.min(width, NARROWEST_GROWN) : width),
    0,
  );
  return cells + GAP * Math.max(0, columns.length - 1);
}

function dropRank<Row>({ column }: { column: Column<Row> }): number {
  return column.dropRank ?? 0;
}
