import * as v from 'valibot';
import { databaseCopies, databaseCopy } from './database-copies.ts';
import { describe, flag, number, optional, orNull, text, texts, warnings } from './fields.ts';
import { loadEstimate } from './history-results.ts';
import { snapshotRow } from './results.ts';
import { SAVES_BEFORE } from './saves/saves-before.ts';
import { tableSelection } from './selected-tables.ts';

/**
 * The rights of a snapshot's code while it is restored: those of a temporary user without rights outside the
 * shadow database, or of the loading user.
 */
export const restoredBy = {
  restored_by: v.picklist(['temporary_user', 'loading_user']),
  restored_by_reason: describe(text, 'Why this user and not the other.'),
};

const restored = v.object(restoredBy);

export type RestoredBy = v.InferOutput<typeof restored>;

export const maybeRestoredBy = {
  restored_by: optional(restoredBy.restored_by),
  restored_by_reason: optional(restoredBy.restored_by_reason),
};

export const destinationState = v.object({
  url: describe(text, 'Without password.'),
  host: text,
  local: describe(flag, 'The host is this machine.'),
  database: text,
  exists: flag,
  size_bytes: orNull(number),
  connections: describe(number, 'Sessions that other programs have open on it; they are ended by the swap.'),
  server_version: text,
});

export type DestinationState = v.InferOutput<typeof destinationState>;

/** Fields of every plan that replaces a destination. */
export const replaces = {
  undo: describe(flag, 'The replaced database is kept for `tool undo`.'),
  unverified_sources: describe(texts, 'Targets of which the source could not be compared with the destination.'),
};

export const sanitizedState = {
  sanitized: describe(orNull(flag), 'The data is sanitized; `null` where it cannot be known, as for an SQL file.'),
  sanitized_reason: describe(text, 'Why it is, why it is not, or why it cannot be known.'),
};

const differingTable = v.object({
  table: text,
  method: describe(
    v.picklist(['rows', 'whole']),
    '`rows`: rows that differ are replaced in the copy of the base copy; `whole`: all rows are loaded.',
  ),
  reason: text,
  size_bytes: describe(number, 'Content that is read of the snapshot.'),
  deleted: optional(describe(number, 'Rows, in the result of a load; an updated row is deleted and inserted.')),
  inserted: optional(number),
});

const loadDifference = v.object({
  method: describe(
    v.picklist(['difference', 'full']),
    '`difference`: the base copy is copied, and the tables that differ are loaded; `full`: all tables are loaded.',
  ),
  reason: text,
  base: describe(text, 'The database of the base copy.'),
  base_snapshot: describe(orNull(text), 'The id of its snapshot.'),
  tables: describe(number, 'Loaded tables; the saved ones are not loaded because the base copy has them.'),
  size_bytes: number,
  saved_tables: number,
  saved_bytes: number,
  by_table: optional(describe(v.array(differingTable), 'The loaded tables, the largest first: at most 100.')),
});

export type LoadDifference = v.InferOutput<typeof loadDifference>;

const onlyRows = v.object({
  tables: describe(
    v.array(v.object({ table: text, rows_before: describe(number, 'Rows that are replaced.'), rows: number })),
    'Tables whose rows are replaced in the present destination; everything else stays.',
  ),
  keys: optional(describe(texts, 'Primary keys of the only rows to replace. Absent: all rows.')),
  views_not_refreshed: describe(texts, 'Materialized views that read the tables.'),
});

const afterLoad = v.object({
  kind: v.picklist(['command', 'query_file']),
  run: describe(text, 'The command, or the path of the SQL file.'),
  timeout_s: number,
});

export type AfterLoad = v.InferOutput<typeof afterLoad>;

const automaticSave = v.object({
  database: describe(text, 'The database that is saved first, unless it is proved to be as it was loaded.'),
  before: v.picklist(SAVES_BEFORE),
  size_bytes: number,
  duration_ms: describe(number, 'Estimated from the size.'),
  skipped: optional(describe(v.literal(true), 'It would take longer than `saves.max_duration`, and is left out.')),
});

export const automaticSaves = optional(
  describe(v.array(automaticSave), 'States that would be lost. Absent: none is saved.'),
);

export type AutomaticSave = v.InferOutput<typeof automaticSave>;

/** Printed by `--dry-run`, shown before the confirmation, applied by `load`. */
export const loadPlan = v.object({
  target: text,
  snapshot: describe(orNull(snapshotRow), 'The snapshot to restore; `null` when a file is run instead.'),
  save: optional(describe(text, 'The name of the save to restore. Absent: none.')),
  branch: optional(describe(text, 'The branch that is replaced. Absent: the destination itself.')),
  file: describe(orNull(text), 'Path of the SQL file to run; `null` when a snapshot is restored.'),
  ...sanitizedState,
  destination: destinationState,
  chosen_by: describe(text, 'The setting that named the destination, and so why it won.'),
  strategy: describe(
    v.picklist(['swap', 'in_place', 'rows', 'script']),
    '`swap`: a shadow database is renamed; `in_place`: one transaction in the destination; `rows`: the rows of some tables; `script`: the file as it is.',
  ),
  strategy_reason: describe(text, 'Why this strategy and not the other.'),
  ...maybeRestoredBy,
  undo: replaces.undo,
  keep_base: optional(describe(v.object({ spare: flag }), 'Keeps a base copy, and a spare. Absent: none.')),
  copies: optional(describe(databaseCopies, 'Copies of the last load, which the load replaces or drops.')),
  difference: optional(describe(loadDifference, 'The tables to load. Absent: there is no base copy.')),
  reset_instead: optional(describe(v.literal(true), '`tool reset` gives the same database, faster.')),
  keep_going: optional(
    describe(
      v.picklist(['inspect', 'swap']),
      'After errors: restores the rest, and leaves it to be inspected or swaps it in. Absent: the first error ends the load.',
    ),
  ),
  after_load: optional(
    describe(v.array(afterLoad), 'Steps in the shadow database before it replaces the destination. Absent: none.'),
  ),
  schemas: texts,
  tables: number,
  rows: number,
  size_bytes: number,
  indexes: optional(describe(number, 'Indexes and constraints to create, where all tables are restored.')),
  pull_bytes: optional(describe(number, 'Bytes to pull first. Absent: none.')),
  selection: describe(orNull(tableSelection), 'The selected tables; `null` when all are loaded.'),
  only_rows: optional(describe(onlyRows, 'Of a load with --only. Absent: the destination is replaced.')),
  automatic_saves: automaticSaves,
  jobs: number,
  estimate: optional(describe(loadEstimate, 'Estimated duration. Absent: there is no earlier load to estimate from.')),
  unverified_sources: replaces.unverified_sources,
  steps: describe(texts, 'Steps in order, for people.'),
  warnings,
});

export type LoadPlan = v.InferOutput<typeof loadPlan>;

/** Parts that a load which went on after errors did not restore. */
const missingParts = v.object({
  objects: describe(number, 'Objects, sequences and large objects that differ from the manifest.'),
  tables: describe(number, 'Tables with another number of rows than in the manifest.'),
  rows: describe(number, 'Rows that they lack in all.'),
  differences: describe(texts, 'Each of them, for people.'),
  errors: describe(texts, 'Error messages of the server.'),
});

export type MissingParts = v.InferOutput<typeof missingParts>;

/** The end of every result that has replaced a destination. */
export const replaced = {
  swap_ms: describe(orNull(number), 'Milliseconds for which the destination was unavailable.'),
  undo_database: describe(orNull(text), 'The database with the previous content, for `tool undo`.'),
};

export const loadResult = v.object({
  snapshot: orNull(snapshotRow),
  destination: text,
  statements: optional(describe(number, 'Statements of an SQL file that ran; absent for a snapshot.')),
  tables: number,
  rows: number,
  size_bytes: number,
  selection: describe(orNull(tableSelection), 'The selected tables; `null` when all were loaded.'),
  only_rows: optional(describe(onlyRows, 'Of a load with --only.')),
  ...replaced,
  missing: optional(describe(missingParts, 'Of an incomplete load with --keep-going --accept-missing.')),
  difference: optional(describe(loadDifference, 'Absent where there was no base copy.')),
  after_load: optional(describe(v.array(afterLoad), 'Steps that ran. Absent: none.')),
  base_database: optional(describe(text, 'The base copy that was created.')),
  spare_database: optional(describe(text, 'The spare that was created.')),
});

export type LoadResult = v.InferOutput<typeof loadResult>;

export const undoPlan = v.object({
  target: text,
  destination: destinationState,
  undo_database: describe(text, 'The database that comes back.'),
  replaced_at: text,
  size_bytes: number,
  tables: optional(describe(texts, 'Only the rows of these tables come back. Absent: the whole database.')),
  copies: optional(describe(databaseCopies, 'Base copy and spare of the present database. Absent: none.')),
  keeps_copies: optional(describe(v.literal(true), 'They are of the database that comes back as well.')),
  unverified_sources: replaces.unverified_sources,
});

export type UndoPlan = v.InferOutput<typeof undoPlan>;

const resetFrom = describe(v.picklist(['base', 'spare']), 'The spare is renamed; the base copy is copied.');

const resetWay = describe(
  v.picklist(['in_place', 'copy']),
  '`in_place`: one transaction exchanges the rows that differ; `copy`: a copy of the base copy, or the spare, replaces the database.',
);

const resetChanges = v.object({
  tables: describe(
    v.array(v.object({ table: text, delete: number, insert: number })),
    'Changed tables. In a plan, row versions that differ, of which some may be equal rows.',
  ),
  sequences: describe(number, 'Sequences with another value.'),
});

export const resetPlan = v.object({
  target: text,
  destination: destinationState,
  base: databaseCopy,
  way: resetWay,
  way_reason: text,
  changes: optional(describe(resetChanges, 'Of a reset in place.')),
  automatic_saves: automaticSaves,
  from: resetFrom,
  undo: replaces.undo,
  spare: describe(flag, 'The next spare is made afterwards.'),
  needs_bytes: describe(orNull(number), 'Disk space that the new copies take.'),
  unverified_sources: replaces.unverified_sources,
  steps: texts,
  warnings,
});

export type ResetPlan = v.InferOutput<typeof resetPlan>;

export const resetResult = v.object({
  target: text,
  destination: text,
  snapshot: describe(orNull(text), 'The id of the snapshot that the destination has the content of.'),
  loaded_at: text,
  way: resetWay,
  changes: optional(describe(resetChanges, 'Of a reset in place.')),
  from: resetFrom,
  size_bytes: orNull(number),
  ...replaced,
  spare_database: describe(orNull(text), 'The next spare, if one was made.'),
});

export type ResetResult = v.InferOutput<typeof resetResult>;

/** The copies of a destination that `tool reset --drop` removes. */
export const dropCopiesPlan = v.object({ target: text, destination: destinationState, copies: v.array(databaseCopy) });

export type DropCopiesPlan = v.InferOutput<typeof dropCopiesPlan>;

export const dropCopiesResult = v.object({ target: text, destination: text, dropped: texts });

export type DropCopiesResult = v.InferOutput<typeof dropCopiesResult>;
