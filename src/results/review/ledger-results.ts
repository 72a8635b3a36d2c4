import * as v from 'valibot';
import { describe, flag, number, optional, orNull, text, texts } from '../fields.ts';

const openItem = v.object({
  name: describe(text, '`schema.table.column`, or a key in it: `schema.table.column->key`.'),
  type: text,
  why: v.picklist(['unclassified', 'new_values', 'unchanged', 'not_empty', 'not_excluded', 'reclassified']),
  values: optional(describe(texts, 'Values of an enumeration that are not in the ledger.')),
});

export type OpenItem = v.InferOutput<typeof openItem>;

const counts = v.object({ changed: number, kept: number, empty: number, excluded: number, open: number });

export type LedgerCounts = v.InferOutput<typeof counts>;

export const classifyResult = v.object({
  target: text,
  file: text,
  added: describe(number, 'New entries.'),
  counts,
  open: describe(v.array(openItem), 'Unclassified items.'),
});

export type ClassifyResult = v.InferOutput<typeof classifyResult>;

export const ledgerCheck = v.object({
  target: text,
  file: describe(orNull(text), '`null`: there is no ledger, so all columns are open.'),
  items: describe(number, 'Columns, and parts of their types.'),
  open: v.array(openItem),
});

export type LedgerCheck = v.InferOutput<typeof ledgerCheck>;

export const canaryReport = v.object({
  persons: number,
  columns: describe(number, 'Columns with marks.'),
  unmarked: describe(texts, 'Columns whose type or constraints take no mark.'),
  survived: v.array(
    v.object({
      column: describe(text, 'Column of the result with marks; `definitions` of a definition.'),
      marks: number,
      from: describe(texts, 'Columns that the marks were inserted into, as far as they are known.'),
      kept: describe(flag, 'The ledger or a comment of the query keeps it.'),
    }),
  ),
});

export type CanaryReport = v.InferOutput<typeof canaryReport>;
