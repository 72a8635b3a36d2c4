import * as v from 'valibot';
import { describe, number, optional, orNull, text, texts } from './fields.ts';
import { snapshotRow } from './results.ts';
import { cutValues, rowColumn } from './rows-results.ts';

export const rowsDiff = v.object({
  columns: v.array(rowColumn),
  key: describe(texts, 'Columns of the primary key; none where it is missing, or differs.'),
  added: describe(number, 'Rows with a key that the other snapshot has not; all that differ, without a primary key.'),
  removed: number,
  changed: describe(orNull(number), 'Same key, other values; `null` without a primary key.'),
  samples: describe(
    v.array(
      v.object({
        change: v.picklist(['added', 'removed', 'before', 'after']),
        values: v.array(orNull(text)),
        changed_columns: optional(describe(texts, 'Of `after`.')),
      }),
    ),
    'The first rows of each kind; of a changed one as it was, then as it is.',
  ),
  cut: optional(cutValues),
});

export type RowsDiff = v.InferOutput<typeof rowsDiff>;

export const definitionDiff = v.array(v.object({ change: v.picklist(['added', 'removed', 'same']), text }));

/** Changes in one table between two snapshots of this machine. */
export const tableDiff = v.object({
  target: text,
  table: describe(text, '`schema.table`'),
  from: snapshotRow,
  to: snapshotRow,
  definition: describe(
    orNull(definitionDiff),
    'Hunks of the statements that define it; empty where they are equal, `null` where they cannot be read.',
  ),
  rows: describe(orNull(rowsDiff), '`null` where the rows were not compared.'),
  rows_not_compared: describe(
    orNull(v.picklist(['columns_differ', 'too_large', 'one_side'])),
    'Why the rows were not compared.',
  ),
});

export type TableDiff = v.InferOutput<typeof tableDiff>;
