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
