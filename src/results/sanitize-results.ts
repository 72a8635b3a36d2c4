import type { DestinationState, RestoredBy } from './load-results.ts';
import type { SnapshotRow } from './results.ts';

/** Plan of a sanitization, as data. */
export interface SanitizePlan extends RestoredBy {
  target: string;
  /** The original; `null` when it is built first. */
  snapshot: SnapshotRow | null;
  query: {
    /** The setting that won. */
    chosen_by: string;
    file: string | null;
    base64: boolean;
    statements: { number: number; line: number; text: string }[];
  };
  /** The database that the result replaces; `null` for a throw-away one. */
  destination: DestinationState | null;
  /** Place in which it runs, for people. */
  where: string;
  /** Refuses to publish while personal data is left that no comment lets stay. */
  strict: boolean;
  /** The replaced database is kept. */
  undo: boolean;
  /** Targets of which the source could not be compared with the destination. */
  unverified_sources: string[];
  steps: string[];
  warnings: { code: string; message: string }[];
}

export interface TableCoverage {
  name: string;
  state: 'changed' | 'untouched' | 'emptied' | 'dropped' | 'added';
  rows_before: number | null;
  rows_after: number | null;
  /** Changed although no statement names it: by a trigger, a cascade or a function. */
  indirect: boolean;
}

/** A column of the result with original personal values. */
export interface UnsanitizedColumn {
  /** `schema.table.column` */
  column: string;
  kind: string;
  /** The kind, for people. */
  meaning: string;
  /** Evidence for the kind. */
  by: 'name' | 'values';
  /** `partly`: some of its values remain; `leaked`: values of other columns are in it. */
  state: 'unchanged' | 'partly' | 'leaked';
  /** Made from other columns: change those. */
  generated: boolean;
  /** Values that are not null. */
  values: number;
  /** Values that hold original ones; `null` where only samples were compared. */
  original_values: number | null;
  /** Columns of the original that the values are from. */
  from: string[];
  /** From before the query. Masked. */
  samples: string[];
  /** From after it. Masked. */
  samples_after: string[];
}

/** A column that looked personal and is not as it was. */
export interface ChangedColumn {
  column: string;
  kind: string;
  meaning: string;
  /** Masked, before the query and after it. */
  samples: string[];
  samples_after: string[];
}

/** A column with common words that are original values, too: first names in a list of countries. */
export interface CommonValues {
  column: string;
  values: number;
  original_values: number;
  from: string[];
}

/** Columns that a sanitization query has changed, and those that it has not. */
export interface Coverage {
  tables: TableCoverage[];
  findings: UnsanitizedColumn[];
  /** Let stay by a comment in the query. */
  acknowledged: { column: string; kind: string; reason: string }[];
  changed: ChangedColumn[];
  common: CommonValues[];
}

export interface SanitizeResult {
  /** The sanitized one. */
  snapshot: SnapshotRow;
  original: SnapshotRow;
  /** `null` for a throw-away database. */
  destination: string | null;
  statements: number;
  coverage: Coverage;
  swap_ms: number | null;
  undo_database: string | null;
}

export interface Suggestion {
  /** Columns that the query is to change. */
  findings: UnsanitizedColumn[];
  /** SQL for a person to read and edit. */
  query: string;
}

/** Effect of suggested replacements on a few rows; the rows stay as they are. */
export interface TrialResult {
  ms: number;
  columns: {
    /** `schema.table.column` */
    column: string;
    /** Masked; `null` is NULL. */
    values: { before: string | null; after: string | null }[];
    error: string | null;
  }[];
}

/** Plan to save a sanitization query: the file and its changes. */
export interface QuerySavePlan {
  target: string;
  /** Absolute. */
  file: string;
  exists: boolean;
  /** The present text of the file, decoded, and its new one. */
  before: string;
  after: string;
  /** The key that is set to the file; `null` where the configuration names the file already. */
  configuration: { file: string; key: string; value: string } | null;
}

export interface DataState {
  sanitized: boolean | null;
  sanitized_reason: string;
}
