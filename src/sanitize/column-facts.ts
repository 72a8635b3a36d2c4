export interface ColumnFacts {
  schema: string;
  table: string;
  column: string;
  /** In the engine's notation, for people and casts: `character varying(120)`. */
  type: string;
  family: ColumnFamily;
  maxLength: number | null;
  /** The only column of a unique index. */
  unique: boolean;
  nullable: boolean;
  /** `A` equals `a`. */
  ignoresCase: boolean;
  generated: boolean;
  /** Numbers of examined values: non-null ones, and distinct ones. */
  sampled: number;
  distinct: number;
  samples: string[];
  /** Hashes of the samples, so that no value is written into a statement, which logs contain. */
  sampleHashes: string[];
}

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

export function columnName({ schema, table, column }: Pick<ColumnFacts, 'schema' | 'table' | 'column'>): string {
  return `${schema}.${table}.${column}`;
}

/** Equal digests mean equal values, in any order. */
export interface ColumnDigest {
  values: number;
  digest: string;
  /** The number of earlier samples that are still among the values. */
  surviving: number;
}
