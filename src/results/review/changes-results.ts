import * as v from 'valibot';
import { describe, number, optional, orNull, text } from '../fields.ts';
import { snapshotRow } from '../results.ts';
import { rowReading } from '../row-reading.ts';
import { definitionDiff, rowsDiff } from './diff-results.ts';

const changedTable = v.object({
  table: describe(text, '`schema.table`'),
  change: describe(v.picklist(['added', 'gone', 'changed']), 'Of the table itself; `changed`: both sides have it.'),
  added: describe(orNull(number), '`null` where the rows were not compared.'),
  changed: describe(orNull(number), 'Same key, other values; `null` without a primary key.'),
  removed: orNull(number),
  not_compared: optional(
    describe(v.picklist(['columns_differ', 'too_large']), 'Why the rows were not compared. Absent: they were.'),
  ),
  rows: optional(describe(rowsDiff, 'With `--table`.')),
});

export type ChangedTable = v.InferOutput<typeof changedTable>;

/** The differences of a destination since a load, a save or a snapshot. */
export const changesResult = v.object({
  target: text,
  branch: optional(text),
  destination: describe(text, 'URL of the database that was read, without password.'),
  since: v.object({
    kind: describe(v.picklist(['load', 'save', 'snapshot']), '`load`: the last load into this database.'),
    name: optional(describe(text, 'Of a save.')),
    snapshot: snapshotRow,
  }),
  tables: describe(v.array(changedTable), 'With changed rows, and new and dropped ones.'),
  unchanged: describe(number, 'Number of tables with equal rows.'),
  definitions: describe(
    v.array(
      v.object({
        name: describe(text, '`schema.name (kind)`'),
        change: v.picklist(['added', 'removed', 'changed']),
        diff: definitionDiff,
      }),
    ),
    'Schema objects whose statements differ.',
  ),
  sequences: describe(
    v.array(v.object({ name: text, from: orNull(text), to: orNull(text) })),
    'Sequences and counters with another value.',
  ),
  large_objects: describe(number, 'Number of large objects that differ.'),
  sql: optional(describe(v.object({ file: text, statements: number }), 'With `--sql`.')),
  reading: optional(describe(rowReading, 'Rows of the destination that were read.')),
});

export type ChangesResult = v.InferOutput<typeof changesResult>;
