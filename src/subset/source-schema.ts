export interface SourceSchema {
  tables: SourceTable[];
  foreignKeys: SourceForeignKey[];
}

export interface SourceTable {
  name: string;
  columns: SourceColumn[];
  /** Unique sets of columns, the primary key first. */
  keys: string[][];
  /** May be an estimate. */
  rows: number;
  /** On disk, without indexes. */
  bytes: number;
}

export interface SourceColumn {
  name: string;
  nullable: boolean;
  generated: boolean;
  type: string;
  /** Columns of one family are comparable. */
  family: string;
}

export interface SourceForeignKey {
  id: string;
  name: string;
  from: string;
  columns: string[];
  to: string;
  refColumns: string[];
  /** Either all or none of its columns are null. */
  matchFull: boolean;
  /** An index finds the referencing rows. */
  indexed: boolean;
}
