import * as v from 'valibot';
import { describe, flag, number, optional, orNull, text, texts, warnings } from '../fields.ts';
import { destinationState, replaced, replaces, restoredBy } from '../load-results.ts';
import { snapshotRow } from '../results.ts';
import { canaryReport } from './ledger-results.ts';

export const sanitizePlan = v.object({
  target: text,
  snapshot: describe(orNull(snapshotRow), 'The original; `null` when it is built first.'),
  query: v.object({
    chosen_by: describe(text, 'The setting that won.'),
    file: orNull(text),
    base64: flag,
    statements: v.array(v.object({ number, line: number, text })),
  }),
  destination: describe(orNull(destinationState), 'The replaced database; `null` for a throw-away one.'),
  where: describe(text, 'Place in which it runs, for people.'),
  ...restoredBy,
  strict: describe(flag, 'Refuses to publish while personal data is left that no comment lets stay.'),
  ...replaces,
  steps: texts,
  warnings,
});

export type SanitizePlan = v.InferOutput<typeof sanitizePlan>;

const tableCoverage = v.object({
  name: text,
  state: v.picklist(['changed', 'untouched', 'emptied', 'dropped', 'added']),
  rows_before: orNull(number),
  rows_after: orNull(number),
  indirect: describe(flag, 'Changed although no statement names it: by a trigger, a cascade or a function.'),
});

export type TableCoverage = v.InferOutput<typeof tableCoverage>;

/** A column of the result with original personal values. */
const unsanitizedColumn = v.object({
  column: describe(text, '`schema.table.column`'),
  kind: text,
  meaning: describe(text, 'The kind, for people.'),
  by: describe(v.picklist(['name', 'values']), 'Evidence for the kind.'),
  state: describe(
    v.picklist(['unchanged', 'partly', 'leaked']),
    '`partly`: some of its values remain; `leaked`: values of other columns are in it.',
  ),
  generated: describe(flag, 'Made from other columns: change those.'),
  values: describe(number, 'Values that are not null.'),
  original_values: describe(orNull(number), 'Values that hold original ones; `null` where only samples were compared.'),
  from: describe(texts, 'Columns of the original that the values are from.'),
  samples: describe(texts, 'From before the query. Masked.'),
  samples_after: describe(texts, 'From after it. Masked.'),
});

export type UnsanitizedColumn = v.InferOutput<typeof unsanitizedColumn>;

/** A column that looked personal and was changed. */
const changedColumn = v.object({
  column: text,
  kind: text,
  meaning: text,
  samples: describe(texts, 'From before the query. Masked.'),
  samples_after: describe(texts, 'From after it. Masked.'),
});

export type ChangedColumn = v.InferOutput<typeof changedColumn>;

/** A column with common words that are original values, too: first names in a list of countries. */
const commonValues = v.object({ column: text, values: number, original_values: number, from: texts });

/** Columns that a sanitization query has changed, and those that it has not. */
export const coverage = v.object({
  tables: v.array(tableCoverage),
  findings: v.array(unsanitizedColumn),
  acknowledged: describe(v.array(v.object({ column: text, kind: text, reason: text })), 'By a comment in the query.'),
  changed: v.array(changedColumn),
  common: v.array(commonValues),
});

export type Coverage = v.InferOutput<typeof coverage>;

export const sanitizeResult = v.object({
  snapshot: snapshotRow,
  original: snapshotRow,
  destination: describe(orNull(text), '`null` for a throw-away database.'),
  statements: number,
  coverage,
  canaries: optional(canaryReport),
  ...replaced,
});

export type SanitizeResult = v.InferOutput<typeof sanitizeResult>;

export const suggestion = v.object({
  findings: describe(v.array(unsanitizedColumn), 'Columns that the query is to change.'),
  query: describe(text, 'SQL for a person to read and edit.'),
});

export type Suggestion = v.InferOutput<typeof suggestion>;

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
