import { cellWidth } from '../../text/text-width.ts';
import type { Cell, Column } from './column.ts';

export interface TableLayout<Row> {
  columns: LaidOutColumn<Row>[];
  /** Every column has a readable width; if not, a line for each value is better than a table. */
  fits: boolean;
}

interface LaidOutColumn<Row> {
  column: Column<Row>;
  width: number;
}

/** Cells between two columns. */
export const GAP = 2;
const LEAST_GROWN = 12;
/** Cells of a text that is cut, at least. */
const LEAST_CUT = 8;
/** Cells that a growing column needs at most before a pane may stand beside the table. */
const MOST_NEEDED = 40;

/**
 * Every column as wide as its widest cell. Where room is short, columns are dropped by rank; of those that stay, the
 * brief forms are taken, and then those are cut that may be. A wider table never has fewer columns.
 */
export function layOutTable<Row>(columns: Column<Row>[], rows: Row[], width: number): TableLayout<Row> {
  return layOutMeasured(measureColumns(columns, rows), rows, width);
}

export function layOutMeasured<Row>(measured: LaidOutColumn<Row>[], rows: Row[], width: number): TableLayout<Row> {
  let fitted = measured;
  while (neededWidth(fitted, LEAST_GROWN) > width) {
    const last = fitted.reduce((worst, entry) => (dropRank(entry) > dropRank(worst) ? entry : worst));
    if (dropRank(last) === 0) break;
    fitted = fitted.filter((entry) => entry !== last);
  }
  if (neededWidth(fitted, LEAST_GROWN) > width) fitted = fitted.map((entry) => briefly(entry, rows));
  const shrunk = shrink(fitted, width);
  return { columns: shrunk, fits: tableWidth(shrunk) <= width };
}

/** Measures every cell: of a thousand rows that change all the time, once for each change is enough. */
export function measureColumns<Row>(columns: Column<Row>[], rows: Row[]): LaidOutColumn<Row>[] {
  return columns.map((column) => ({ column, width: naturalWidth(column, rows) }));
}

/** The width at which no column is dropped. */
export function fullWidth<Row>(measured: LaidOutColumn<Row>[]): number {
  return neededWidth(measured, MOST_NEEDED);
}

function naturalWidth<Row>(column: Column<Row>, rows: Row[]): number {
  const widest = rows.reduce(
    (width, row) => Math.max(width, widthOf(column.cell(row))),
    Math.max(cellWidth(column.title), column.min ?? 0),
  );
  return Math.min(widest, column.max ?? widest);
}

function widthOf({ text, mark = '' }: Cell): number {
  return cellWidth(text) + cellWidth(mark);
}

function briefly<Row>(entry: LaidOutColumn<Row>, rows: Row[]): LaidOutColumn<Row> {
  const { brief } = entry.column;
  if (!brief) return entry;
  const column = { ...entry.column, cell: brief };
  return { column, width: naturalWidth(column, rows) };
}

/** Takes the missing room from growing columns, then from the widest that may be cut. */
function shrink<Row>(columns: LaidOutColumn<Row>[], width: number): LaidOutColumn<Row>[] {
  const shrunk = columns.map((entry) => ({ ...entry }));
  let excess = tableWidth(shrunk) - width;
  const take = (isCut: (column: Column<Row>) => boolean): void => {
    while (excess > 0) {
      const cuttable = shrunk.filter((entry) => isCut(entry.column) && entry.width > LEAST_CUT);
      const widest = cuttable.reduce<LaidOutColumn<Row> | undefined>(
        (most, entry) => (most && most.width >= entry.width ? most : entry),
        undefined,
      );
      if (!widest) return;
      const next = cuttable.reduce(
        (second, entry) => (entry === widest ? second : Math.max(second, entry.width)),
        LEAST_CUT,
      );
      const taken = Math.min(excess, Math.max(1, widest.width - next));
      widest.width -= taken;
      excess -= taken;
    }
  };
  take(({ grows = false }) => grows);
  take(({ whole = false }) => !whole);
  return shrunk;
}

/** Returns the width of the columns if a growing one gets `least` cells, or as many as it needs. */
function neededWidth<Row>(columns: LaidOutColumn<Row>[], least: number): number {
  return tableWidth(
    columns.map((entry) =>
      entry.column.grows ? { ...entry, width: Math.min(entry.width, Math.max(least, entry.column.least ?? 0)) } : entry,
    ),
  );
}

/** Returns the cells of columns with the gaps between them. */
export function tableWidth(columns: { width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width, 0) + GAP * Math.max(0, columns.length - 1);
}

function dropRank<Row>({ column }: LaidOutColumn<Row>): number {
  return column.dropRank ?? 0;
}
