import type { Tone } from './glyphs.ts';

/** A column of a list, for the tables of the command line and those of the screens. */
export interface Column<Row> {
  title: string;
  cell: (row: Row) => Cell;
  align?: 'left' | 'right';
  /** Maximum width on the screens. */
  max?: number;
  /** Gets the remaining width on the screens, and is cut first. */
  grows?: boolean;
  /** Where room is short on the screens, the column with the highest rank is dropped first; 0 stays. */
  dropRank?: number;
}

export interface Cell {
  text: string;
  tone?: Tone;
}
