/** What an engine says of a source's tables and references: all that a subset is planned from. */
export interface SourceSchema {
  tables: SourceTable[];
  foreignKeys: SourceForeignKey[];
}

export interface SourceTable {
  /** With its schema: `public.orders`. */
  name: string;
  columns: SourceColumn[];
  /** Sets of columns in which no two rows are alike, the primary key first. */
  keys: string[][];
  /** How many there are now; an estimate where the engine keeps one. */
  rows: number;
  /** What they take on the disk, without indexes. */
  bytes: number;
}

export interface SourceColumn {
  name: string;
  nullable: boolean;
  /** Made from other columns, so that nothing can be written into it. */
  generated: boolean;
  type: string;
  /** Columns of one family can be compared. */
  family: string;
}

export interface SourceForeignKey {
  /** By which the engine knows it. */
  id: string;
  /** Of the constraint. */
  name: string;
  from: string;
  columns: string[];
  to: string;
  refColumns: string[];
  /** Whether either all of its columns are null or none. */
  matchFull: boolean;
  /** Whether an index finds the rows that refer to a row. */
  indexed: boolean;
}
