import * as v from 'valibot';
import { describe, number, optional, orNull, text, texts } from '../fields.ts';
import { snapshotRow } from '../results.ts';
import { cutValues, rowColumn } from './rows-results.ts';

const tableSide = v.object({
  rows: number,
  bytes: describe(orNull(number), 'Bytes of content; `null` when unknown.'),
});

export type TableSide = v.InferOutput<typeof tableSide>;

const tableChange = v.object({
  table: describe(text, '`schema.table`'),
  change: v.picklist(['added', 'gone', 'changed']),
  from: orNull(tableSide),
  to: orNull(tableSide),
});

export type TableChange = v.InferOutput<typeof tableChange>;

const migrationsChange = v.object({
  tool: describe(text, 'The program: `rails`, `prisma`.'),
  table: describe(text, '`schema.table` of the migrations table.'),
  only_from: texts,
  only_to: texts,
});

export type MigrationsChange = v.InferOutput<typeof migrationsChange>;

/** Changes from one snapshot to another, or to the live destination. */
export const diffResult = v.object({
  target: text,
  from: snapshotRow,
  to: describe(orNull(snapshotRow), '`null` when `from` was compared with the destination.'),
  destination: describe(orNull(text), 'Without password; `null` when two snapshots were compared.'),
  changes: v.array(tableChange),
  unchanged: describe(number, 'Tables that do not differ; those of a live destination are compared by their rows.'),
  migrations: optional(
    describe(v.array(migrationsChange), 'Migrations that only one side has; not of a live destination.'),
  ),
});

export type DiffResult = v.InferOutput<typeof diffResult>;

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
