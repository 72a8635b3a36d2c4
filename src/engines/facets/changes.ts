import type { Manifest, ManifestTable } from '../../repository/manifest/manifest.ts';
import type { DatabaseUrl } from '../database-url.ts';

export interface ChangesToWrite {
  url: DatabaseUrl;
  /** The present state. */
  manifest: Manifest;
  tables: TableChanges[];
  /** Sequences and counters with another value. */
  values: { name: string; text: string }[];
}

/** Rows as lines in the text of COPY. */
export interface TableChanges {
  table: ManifestTable;
  /** Indexes of the columns by which changed rows were found; none without a primary key. */
  key: number[];
  removed: string[];
  added: string[];
  changed: [before: string, after: string][];
}

export interface BaseChangesRequest {
  url: DatabaseUrl;
  /** Name of the destination, where the database is a branch. */
  destination: string | null;
  /** The loaded snapshot or save. */
  manifest: Manifest;
}

/** Differences between a destination or a branch and the base copy, which has the same definitions and large objects. */
export interface BaseChanges {
  tables: DifferingRows[];
  /** Sequences with another value, each with the statement that gives it. */
  sequences: { name: string; from: string; to: string; text: string }[];
}

/** Rows that only one side has, as lines in the text of COPY. */
export interface DifferingRows {
  table: string;
  /** Rows of the base copy. */
  removed: Buffer;
  added: Buffer;
}
