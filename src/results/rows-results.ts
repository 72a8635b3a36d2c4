import type { SnapshotRow } from './results.ts';

/** The first rows of a table of a snapshot. */
export interface RowsResult {
  target: string;
  snapshot: SnapshotRow;
  /** `schema.table` */
  table: string;
  columns: RowColumn[];
  /** Values as text, NULL as `null`; bytes that are no UTF-8 as `0x…`. */
  rows: (string | null)[][];
  /** Values of which `rows` has the beginning only, by index, and their whole length in bytes. */
  cut: { row: number; column: number; bytes: number }[];
  /** Rows of the table. */
  total: number;
}

export interface RowColumn {
  name: string;
  /** Kind of personal data that it looks like: `e-mail address`. */
  personal: string | null;
  /** Its values are replaced by `***`. */
  masked: boolean;
}
