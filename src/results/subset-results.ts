import * as v from 'valibot';
import { describe, flag, number, orNull, text, texts, warnings } from './fields.ts';
import { destinationState, replaced, replaces, restoredBy, sanitizedState } from './load-results.ts';
import { snapshotRow } from './results.ts';

const subsetTableRow = v.object({
  table: text,
  rule: describe(
    v.picklist(['target', 'child', 'parent', 'copy', 'excluded', 'empty']),
    '`empty`: nothing leads to it.',
  ),
  rows_now: describe(number, 'In the source, an estimate where the server has one.'),
  rows_expected: describe(orNull(number), 'In the subset; `null` when not looked for, as only a dry run does.'),
  bytes_now: describe(number, 'On the disk of the source, without indexes.'),
  bytes_expected: describe(orNull(number), 'Estimated by the number of rows.'),
  path: describe(
    texts,
    'The tables by which they come: `["product", "←", "order_item", "→", "orders"]`; arrows point to what is referred to.',
  ),
  nulled: describe(texts, 'Columns that become null, since what they refer to does not come along.'),
});

export type SubsetTableRow = v.InferOutput<typeof subsetTableRow>;

export const subsetPlan = v.object({
  target: text,
  source: text,
  ...sanitizedState,
  destination: destinationState,
  ...restoredBy,
  seed: number,
  undo: replaces.undo,
  tables: v.array(subsetTableRow),
  unverified_sources: replaces.unverified_sources,
  circles: describe(v.array(texts), 'Circles among references; they need no configuration.'),
  warnings,
});

export type SubsetPlanResult = v.InferOutput<typeof subsetPlan>;

/** Settings that the tables and references of a source suggest. */
export const subsetSuggestion = v.object({
  target: text,
  source: describe(text, 'Without password.'),
  destination: describe(text, 'Without password.'),
  subset_tables: v.array(v.object({ table: text, percent: number })),
  copy_tables: texts,
  excluded_tables: texts,
  tables: describe(v.array(subsetTableRow), 'What these settings would give.'),
});

export type SubsetSuggestion = v.InferOutput<typeof subsetSuggestion>;

/** The tables of the source and their references, for a diagram. */
export interface SubsetGraph {
  target: string;
  /** By name. */
  tables: { table: string; rule: SubsetTableRow['rule']; rows: number }[];
  /** By names; several constraints between two tables are one reference with several constraints. */
  references: SubsetReference[];
}

export interface SubsetReference {
  /** The table with the foreign key, and the referenced one. */
  from: string;
  to: string;
  /** Constraints, or `added_relationships`. */
  names: string[];
  /** Rows come by this reference. */
  chosen: boolean;
  /** Part of a circle of references. */
  circular: boolean;
  /** Excluded by the configuration: its columns become null. */
  excluded: boolean;
}

export const subsetGraphResult = v.object({
  target: text,
  file: describe(text, 'Absolute.'),
  format: v.literal('mermaid'),
  tables: number,
  references: number,
});

export type SubsetGraphResult = v.InferOutput<typeof subsetGraphResult>;

const referenceResult = v.object({
  reference: describe(text, 'Name of the constraint.'),
  from: text,
  columns: texts,
  to: text,
  ref_columns: texts,
  added: describe(flag, 'The configuration adds it.'),
  orphans: number,
  orphans_in_source: describe(number, 'Orphans in the source too, where no constraint forbids them.'),
});

export type ReferenceResult = v.InferOutput<typeof referenceResult>;

export const subsetResult = v.object({
  target: text,
  destination: text,
  seed: number,
  tables: v.array(v.object({ table: text, rows: number })),
  rows: number,
  proof: describe(v.array(referenceResult), 'Every reference, and how many rows of the subset refer to none.'),
  ...replaced,
  snapshot: describe(orNull(snapshotRow), 'The subset as a snapshot, when one was asked for.'),
});

export type SubsetResult = v.InferOutput<typeof subsetResult>;

/** Explains why a row is in a subset, from the row to one that was asked for. */
export const subsetExplanation = v.object({
  target: text,
  row: v.object({ table: text, key: text }),
  chain: describe(
    orNull(v.array(v.object({ table: text, key: text, why: text }))),
    '`null` when the row is not in the subset.',
  ),
});

export type SubsetExplanation = v.InferOutput<typeof subsetExplanation>;
