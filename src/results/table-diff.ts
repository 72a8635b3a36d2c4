import type { SnapshotRow } from './results.ts';
import type { RowColumn } from './rows-results.ts';

/** Changes in one table between two snapshots of this machine. */
export interface TableDiff {
  target: string;
  /** `schema.table` */
  table: string;
  from: SnapshotRow;
  to: SnapshotRow;
  /** Hunks of the statements that define it; empty where they are equal, `null` where they cannot be read. */
  definition: { change: 'added' | 'removed' | 'same'; text: string }[] | null;
  /** `null` where the rows were not compared. */
  rows: RowsDiff | null;
  /** Why not. */
  rows_not_compared: 'columns_differ' | 'too_large' | 'one_side' | null;
}

export interface RowsDiff {
  columns: RowColumn[];
  /** Rows with a key that the other snapshot has not; all that differ, without a primary key. */
  added: number;
  removed: number;
  /** With the key of a row in the other snapshot; `null` without a primary key, or of very many. */
  changed: number | null;
  /** The first rows of each kind; of a changed one as it was, then as it is. */
  samples: { change: 'added' | 'removed' | 'before' | 'after'; values: (string | null)[] }[];
}
