import type { Glyphs, Tone } from './glyphs.ts';
import { GAP, tableWidth } from './table-layout.ts';

export interface StyledText {
  text: string;
  tone?: Tone;
  bold?: boolean;
}

export interface GridColumn {
  name: string;
  /** Cells of its widest value. */
  width: number;
  align: 'left' | 'right';
  /** Values of it changed. */
  changed?: boolean;
}

/** Records as lines of aligned columns, of which the first ones stay while the others scroll. */
export interface Grid<Row> {
  columns: GridColumn[];
  /** Number of leading columns that stay: the key. */
  fixed: number;
  rows: Row[];
  /** Says what happened to the row; absent where nothing did. */
  sign?: (row: Row) => StyledText;
  /** Lines of the row: two where it was changed. */
  height: (row: Row) => number;
  cell: (row: Row, place: GridPlace) => StyledText[];
}

/** The grid with the key and the columns whose values changed, which follow the key. */
export function changedColumns<Row>(grid: Grid<Row>): Grid<Row> {
  return { ...grid, columns: grid.columns.filter(({ changed }, index) => index < grid.fixed || changed) };
}

export interface GridPlace {
  line: number;
  column: number;
  /** In cells. */
  width: number;
  glyphs: Pick<Glyphs, 'ellipsis' | 'arrow' | 'same'>;
}

export interface GridLayout {
  columns: { index: number; width: number }[];
  /** Numbers of columns out of view. */
  before: number;
  after: number;
}

export interface GridRoom {
  /** Columns that are scrolled out at the left. */
  scrolled: number;
  /** In cells, without sign and pointer. */
  width: number;
}

/** Cells of a sign with its blank. */
const SIGN_WIDTH = 2;
/** Cells of a value, unless there is room for more. */
const MOST_CELLS = 40;
/** Cells of a column that is cut at the right end, at least. */
const LEAST_CELLS = 8;

/** The columns in view: the fixed ones, then as many of the others as there is room for, at least one. */
export function layOutGrid<Row>({ columns, fixed }: Grid<Row>, { scrolled, width }: GridRoom): GridLayout {
  const scrolling = columns.length - fixed;
  const before = Math.max(0, Math.min(scrolled, scrolling - 1));
  const keyed = fixedColumns(columns.slice(0, fixed), scrolling > 0 ? Math.floor(width * 0.6) : width);
  const shown = [...keyed];
  let left = width - tableWidth(shown);
  for (let index = fixed + before; index < columns.length; index += 1) {
    const room = left - (shown.length > 0 ? GAP : 0);
    const wanted = Math.min(columns[index]?.width ?? 0, MOST_CELLS);
    const isFirst = shown.length === keyed.length;
    if (wanted > room && room < LEAST_CELLS && !isFirst) break;
    const taken = Math.max(1, Math.min(wanted, room));
    shown.push({ index, width: taken });
    left = width - tableWidth(shown);
    if (taken < wanted) break;
  }
  const last = shown.at(-1)?.index ?? -1;
  return { columns: widened(shown, columns, left), before, after: columns.length - 1 - last };
}

export function signWidth<Row>({ sign }: Pick<Grid<Row>, 'sign'>): number {
  return sign ? SIGN_WIDTH : 0;
}

/** The width at which no column is out of view. */
export function fullGridWidth<Row>({ columns }: Grid<Row>): number {
  return tableWidth(columns.map(({ width }) => ({ width: Math.min(width, MOST_CELLS) })));
}

/** A key is cut evenly where it would leave no room. */
function fixedColumns(columns: GridColumn[], most: number): GridLayout['columns'] {
  const natural = columns.map(({ width }, index) => ({ index, width: Math.min(width, MOST_CELLS) }));
  if (tableWidth(natural) <= most) return natural;
  const each = Math.max(3, Math.floor((most - GAP * (columns.length - 1)) / columns.length));
  return natural.map(({ index, width }) => ({ index, width: Math.min(width, each) }));
}

/** Room that is left goes to the values that are cut, from the left. */
function widened(shown: GridLayout['columns'], columns: GridColumn[], left: number): GridLayout['columns'] {
  let spare = left;
  return shown.map(({ index, width }) => {
    const more = Math.max(0, Math.min(spare, (columns[index]?.width ?? 0) - width));
    spare -= more;
    return { index, width: width + more };
  });
}
