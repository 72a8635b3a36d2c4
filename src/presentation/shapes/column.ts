import type { Tone } from './glyphs.ts';

/** A column of a list, for the tables of the command line and those of the screens. */
export interface Column<Row> {
  title: string;
  cell: (row: Row) => Cell;
  align?: 'left' | 'right';
  /** The same in fewer cells, where the columns that stay do not fit. */
  brief?: (row: Row) => Cell;
  /** Minimum width, so that writing into an empty column moves no other. */
  min?: number;
  /** Maximum width on the screens. */
  max?: number;
  /** Gets the remaining width, and is cut first. */
  grows?: boolean;
  /** Cells that a growing column keeps before columns with a rank get room. Default 12. */
  least?: number;
  /** Order of removal where room is short: the highest rank goes first; 0 stays. */
  dropRank?: number;
  /** Never cut: an id, a time, a size, a state. */
  whole?: boolean;
  /** Shown in full below the list, for the selected row, where the column is cut or dropped. */
  essential?: boolean;
}

export interface Cell {
  text: string;
  /** Follows the text, and stays where that is cut. */
  mark?: string;
  tone?: Tone;
}
