/** The tables of a branch before a migration runs, which the rules of rehearsals compare its statements with. */
export interface RehearsalFacts {
  /** By `schema.table` (text/table-names.ts): tables, partitioned tables and materialized views. */
  tables: ReadonlyMap<string, TableFacts>;
  /** Schemas of names without one, in order. */
  searchPath: readonly string[];
  /** Reports whether role, database or server limit how long a statement waits for a lock. */
  limitsLockWaits: boolean;
  isMariadb?: boolean;
  /** Rows are copied for a definition while others write. */
  copiesOnline?: boolean;
}

export interface TableFacts {
  /** An estimate of the server, at least 1 for a table with content. */
  rows: number;
  columns: readonly ColumnFacts[];
  indexes: readonly string[];
  constraints: readonly ConstraintFacts[];
  /** Engines whose statements name a trigger without its table have them. */
  triggers?: readonly string[];
}

export interface ColumnFacts {
  name: string;
  /** In the server's words: `character varying(20)`. */
  type: string;
  isNullable: boolean;
  /** `schema.view`, of the views that use it. */
  views: readonly string[];
}

export interface ConstraintFacts {
  name: string;
  kind: 'primary' | 'unique' | 'foreign' | 'check' | 'exclusion' | 'not null';
  /** In the server's words: `CHECK ((amount IS NOT NULL))`. */
  definition: string;
  isValidated: boolean;
}
