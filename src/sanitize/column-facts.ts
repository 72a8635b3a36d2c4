/** What is known of a column before and while a query sanitizes it. */
export interface ColumnFacts {
  schema: string;
  table: string;
  column: string;
  /** As the engine writes it, for people and for casts: `character varying(120)`. */
  type: string;
  family: ColumnFamily;
  /** Characters that fit; `null` without a limit. */
  maxLength: number | null;
  /** Alone the subject of a unique index. */
  unique: boolean;
  nullable: boolean;
  /** `A` and `a` are the same value. */
  ignoresCase: boolean;
  /** Made by the database from other columns. */
  generated: boolean;
  /** Of the values that were looked at: how many are not null, and how many differ. */
  sampled: number;
  distinct: number;
  /** Different values, as text, cut where they get long. */
  samples: string[];
  /** What the engine knows the samples by, so that no value is ever written into a statement, which logs hold. */
  sampleHashes: string[];
}

/** What kinds of values a type takes, whatever the engine calls it. */
export type ColumnFamily =
  | 'text'
  | 'number'
  | 'date'
  | 'time'
  | 'network'
  | 'hardware'
  | 'document'
  | 'boolean'
  | 'binary'
  | 'other';

/** `schema.table.column` */
export function columnName({ schema, table, column }: Pick<ColumnFacts, 'schema' | 'table' | 'column'>): string {
  return `${schema}.${table}.${column}`;
}

/** What a column holds in a form that can be compared: equal digests are the same values, in whatever order. */
export interface ColumnDigest {
  /** Values that are not null. */
  values: number;
  digest: string;
  /** How many of the samples that were taken before are among the values. */
  surviving: number;
}
