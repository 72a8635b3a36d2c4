import * as v from 'valibot';
import { describe, flag, number, optional, orNull, text, texts } from '../fields.ts';
import { snapshotRow } from '../results.ts';

export const rowColumn = v.object({
  name: text,
  personal: describe(orNull(text), 'Kind of personal data that it looks like: `e-mail address`.'),
  masked: describe(flag, 'Its values are replaced by `***`.'),
});

export type RowColumn = v.InferOutput<typeof rowColumn>;

export const cutValues = describe(
  v.array(v.object({ row: number, column: number, bytes: number })),
  'Shortened values by index, and their whole length.',
);

/** The first rows of a table of a snapshot. */
export const rowsResult = v.object({
  target: text,
  snapshot: snapshotRow,
  table: describe(text, '`schema.table`'),
  columns: v.array(rowColumn),
  key: optional(describe(texts, 'Columns of the primary key, where they were asked for.')),
  rows: describe(v.array(v.array(orNull(text))), 'Values as text, NULL as `null`; bytes that are no UTF-8 as `0x…`.'),
  cut: cutValues,
  skipped: optional(describe(number, 'Rows before the first one. Absent: none.')),
  total: describe(number, 'Rows of the table.'),
});

export type RowsResult = v.InferOutput<typeof rowsResult>;
