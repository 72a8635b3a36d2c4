import type { Column } from '../src/presentation/column.ts';
import { cellWidth, fitCells } from '../src/text/text-width.ts';
import type { Span } from './line.tsx';

export interface TableLayout<Row> {
  columns: { column: Column<Row>; width: number }[];
}

const GAP = 2;
const NARROWEST_GROWN = 12;

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
      const { text, tone = 'plain' } = column.cell(row);
      return { text: fitCells(text, width, { align: column.align ?? 'left', ellipsis }), tone };
    }),
  );
}

function joined(cells: Span[]): Span[] {
  return cells.flatMap((cell, index) => (index === 0 ? [cell] : [{ text: ' '.repeat(GAP) }, cell]));
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
