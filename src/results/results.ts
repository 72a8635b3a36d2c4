import * as v from 'valibot';
import { ENGINE_IDS } from '../engines/list.ts';
import { mode } from './configuration/configuration-results.ts';
import { destinationCopies } from './database-copies.ts';
import { excludedRowsSchema } from './excluded-rows.ts';
import { describe, flag, number, open, optional, orNull, text, texts } from './fields.ts';
import { definitionsOnlySchema } from './manifest/definitions-only.ts';
import { DUMP_FORMATS, dumpOriginSchema } from './manifest/dump-origin.ts';
import { gitStateSchema } from './manifest/git-state.ts';
import { hiddenSchema } from './manifest/hidden-objects.ts';
import { leftOutSchemas } from './manifest/left-out-schemas.ts';
import { appliedSchema } from './manifest/migration-results.ts';
import { storedCoverage } from './manifest/stored-coverage.ts';
import { rowReading } from './row-reading.ts';
import { serverFiles, serverRow } from './running-servers.ts';
import { saveOrigin } from './saves/save-origin.ts';

// Results of operations: the shapes of the JSON output (docs/commands.md), so that scripts, the plain tables
// and the screens show one truth. Sizes in bytes, durations in milliseconds, times in ISO 8601 UTC. No secrets.

const engine = v.picklist(ENGINE_IDS);

const targetStatus = describe(
  v.picklist(['ok', 'missing', 'denied', 'unreachable', 'unchecked']),
  '`missing`: the server answers, the database is not there.',
);

export type TargetStatus = v.InferOutput<typeof targetStatus>;

const lastRestore = v.object({ at: text, snapshot: describe(orNull(text), '`null`: not readable by this caller.') });

const contents = v.object({
  snapshot: describe(text, 'Id of the snapshot or save.'),
  save: optional(describe(text, 'The name of the save. Absent: a snapshot.')),
  sanitized: orNull(flag),
  since: describe(text, 'Time of the load, reset, return or switch.'),
  unchanged: describe(flag, '`false`: changed since, or not proved to be unchanged.'),
});

/** The content of a destination. */
export type Contents = v.InferOutput<typeof contents>;

export const targetRow = v.object({
  name: text,
  title: text,
  type: v.picklist(['local', 'cloud', 'share']),
  engine: orNull(engine),
  src_url: orNull(text),
  dst_url: orNull(text),
  storage_profile: orNull(text),
  status: targetStatus,
  latency_ms: orNull(number),
  server_version: orNull(text),
  size_bytes: orNull(number),
  snapshots: describe(number, 'On this machine.'),
  last_snapshot_at: orNull(text),
  error: describe(orNull(text), 'Why the status is not `ok`, in full.'),
  error_code: describe(orNull(text), 'The same as a code, such as `wrong_password` or `too_many_connections`.'),
  permissions: optional(describe(texts, 'Permissions of this caller for a cloud target, such as `read_originals`.')),
  sso_groups: optional(describe(texts, 'Groups that may read sanitized snapshots, as far as the hub shows them.')),
  late: optional(describe(flag, 'The newest snapshot of a cloud target is older than the hub expects.')),
  last_restore: optional(describe(orNull(lastRestore), 'The last proved restore of a cloud target.')),
  restore_late: optional(describe(flag, 'The last proved restore of a cloud target is older than the hub expects.')),
  copies: optional(describe(destinationCopies, 'Copies of the destination. Absent: none, or not looked for.')),
  contents: optional(
    describe(orNull(contents), 'What the destination holds; `null`: unknown. Absent: not looked for.'),
  ),
  servers: optional(describe(v.array(serverRow), 'Running servers of `tool up`. Absent: none, or not looked for.')),
  destination_missing: optional(
    describe(flag, 'The destination does not exist. Absent: it exists, or is not known to.'),
  ),
});

export type TargetRow = v.InferOutput<typeof targetRow>;

/** All that the configuration says of a target. URLs are without password; of one that cannot be read, the reason. */
export const targetInfo = v.object({
  source: orNull(text),
  destination: orNull(text),
  destination_set_by: describe(orNull(text), 'The setting that the destination comes from: `override.dst_db_url`.'),
  schema_config: orNull(open),
  storage_profile: orNull(text),
  sanitize_query: describe(orNull(text), 'The setting that the sanitization query comes from.'),
  sanitize_destination: orNull(text),
  sanitize_storage_profile: orNull(text),
  subset_source: orNull(text),
  subset_destination: orNull(text),
  subset_tables: texts,
  shared_storage_profile: orNull(text),
  sso_groups: texts,
  allow_destination_of: texts,
  cpus: number,
});

export type TargetInfo = v.InferOutput<typeof targetInfo>;

const describedTarget = v.object({ ...targetRow.entries, info: targetInfo });

export const targetList = v.object({ mode, targets: v.array(targetRow) });

export const describedTargetList = v.object({ mode, targets: v.array(describedTarget) });

/** This machine, or the bucket of a storage profile. */
const snapshotLocation = v.picklist(['local', 'remote']);

export type SnapshotLocation = v.InferOutput<typeof snapshotLocation>;

/** The state of the manifest's signature. */
const snapshotSignature = v.object({
  state: describe(
    v.picklist(['none', 'invalid', 'unchecked', 'valid', 'trusted', 'untrusted']),
    '`trusted` and `untrusted`: valid, and the key is in `trusted_keys` or not; `valid`: without `trusted_keys`; `unchecked`: as the index of a bucket says, which is verified before the snapshot is used.',
  ),
  key: orNull(text),
});

export type SnapshotSignature = v.InferOutput<typeof snapshotSignature>;

export const snapshotRow = v.object({
  index: describe(number, '0 is the newest.'),
  id: text,
  created_at: text,
  sanitized: flag,
  sanitized_of: optional(describe(text, 'The id of the original, with which it shares the index.')),
  sanitized_at: optional(text),
  engine,
  server_version: text,
  program: optional(describe(text, 'The program of a build with `program: true`: `mariadb-dump 10.11.14`.')),
  schemas: texts,
  left_out_schemas: optional(describe(leftOutSchemas, 'Schemas of the source that are not in it, if there are any.')),
  hidden: optional(describe(v.array(hiddenSchema(text)), 'Objects that it lacks for want of rights.')),
  definitions_only: optional(describe(definitionsOnlySchema(text), 'Tables of which it has the definition only.')),
  excluded_rows: optional(describe(excludedRowsSchema(text), 'What the build left out by `exclude_rows`.')),
  tables: number,
  rows: number,
  size_bytes: describe(number, 'Bytes of content.'),
  stored_bytes: describe(number, 'Bytes that this snapshot added when it was taken.'),
  where: v.array(snapshotLocation),
  git: optional(describe(gitStateSchema, 'The git repository in whose folder it was built, if any.')),
  migrations: optional(describe(appliedSchema, 'The migrations tables in it, if there are any of a known program.')),
  dump: optional(describe(dumpOriginSchema, 'The dump that was imported, for a snapshot of `tool import`.')),
  coverage: optional(describe(storedCoverage, 'Of a sanitized snapshot.')),
  query_file: optional(
    describe(text, 'In lists: the query of a snapshot that was sanitized on this machine; absolute.'),
  ),
  note: orNull(text),
  tags: optional(describe(texts, 'In alphabetical order, if there are any.')),
  pinned: optional(describe(v.literal(true), 'Never pruned; removed on explicit request only.')),
  image: optional(describe(v.literal(true), 'In lists: a server starts on a stored image of it.')),
  restored_at: optional(describe(text, 'In lists: time of its last proof by restore, as far as it is known here.')),
  origin: optional(describe(text, 'The target that built it, if another one: for a share target.')),
  signature: snapshotSignature,
  reading: optional(describe(rowReading, 'Of a build, where unchanged rows need not be read.')),
});

export type SnapshotRow = v.InferOutput<typeof snapshotRow>;

/** A save of the destination or of a branch. It never counts as sanitized, and is on this machine only. */
export const saveRow = v.object({
  name: text,
  ...snapshotRow.entries,
  ...saveOrigin,
});

export type SaveRow = v.InferOutput<typeof saveRow>;

export const targetSnapshots = v.object({ target: text, snapshots: v.array(snapshotRow) });

export type TargetSnapshots = v.InferOutput<typeof targetSnapshots>;

export const describedTargetSnapshots = v.object({ ...targetSnapshots.entries, info: describedTarget });

/** The result of pin, tag and note. */
export const annotatedSnapshot = v.object({ target: text, snapshot: snapshotRow });

export const verifiedRestore = v.object({
  place: describe(text, 'Throw-away server or database of the restore.'),
  duration_ms: number,
  after_load_steps: optional(describe(number, 'Steps of `after_load` that ran.')),
  query_value: optional(describe(orNull(text), 'Value of `--query`.')),
});

export type VerifiedRestore = v.InferOutput<typeof verifiedRestore>;

export const verifyResult = v.object({
  target: text,
  snapshot: snapshotRow,
  save: optional(describe(text, 'Name of the save that was verified in place of a snapshot.')),
  ok: flag,
  files: number,
  bytes: number,
  problems: describe(texts, 'One line a file.'),
  repaired: describe(texts, 'Problems that were repaired by fetching the file again, one line a file.'),
  lost: describe(
    v.array(v.object({ target: text, id: text, created_at: text })),
    'Snapshots, of whatever target, that have lost what could not be repaired; only where a repair was tried.',
  ),
  restore: optional(describe(verifiedRestore, 'With `--restore`.')),
});

export type VerifyResult = v.InferOutput<typeof verifyResult>;

export const removePlan = v.object({
  target: text,
  snapshot: snapshotRow,
  from: describe(v.array(snapshotLocation), 'Locations from which it will be removed.'),
  frees_bytes: describe(number, 'Bytes that no other snapshot shares, freed at the latest a day later.'),
});

export type RemovePlan = v.InferOutput<typeof removePlan>;

export const transferResult = v.object({
  target: text,
  snapshot: snapshotRow,
  storage: describe(orNull(text), '`s3://bucket/prefix`; `null` where a snapshot to pull is only on this machine.'),
  objects: describe(number, 'Objects that were lacking.'),
  bytes: describe(number, 'Bytes of them that were moved.'),
});

export type TransferResult = v.InferOutput<typeof transferResult>;

const prunedSaves = v.object({
  keep: v.array(saveRow),
  remove: describe(v.array(saveRow), 'Saves that `saves` in the configuration does not keep.'),
  size_bytes: describe(number, 'Bytes that only saves need.'),
});

const prunedTarget = v.object({
  target: text,
  keep: v.array(snapshotRow),
  remove: v.array(snapshotRow),
  from: v.array(snapshotLocation),
  frees_bytes: number,
  saves: optional(describe(prunedSaves, 'Saves of the destination. Absent: none, or with `--remote`.')),
  copies: optional(describe(destinationCopies, 'Databases of the destination, which stay. Absent: none, or unknown.')),
  servers: optional(describe(serverFiles, 'Images and servers of `tool up`, which stay. Absent: none.')),
});

export type PrunedTarget = v.InferOutput<typeof prunedTarget>;

export const prunePlan = v.object({
  targets: v.array(prunedTarget),
  frees_bytes: describe(number, 'Bytes that nothing that is kept shares, freed at the latest a day later.'),
});

export type PrunePlan = v.InferOutput<typeof prunePlan>;

export interface SnapshotTable {
  /** `schema.table` */
  table: string;
  rows: number;
  bytes: number;
}

export const exportResult = v.object({ target: text, snapshot: snapshotRow, file: text, bytes: number });

export type ExportResult = v.InferOutput<typeof exportResult>;

export const importResult = v.object({
  target: text,
  file: text,
  left_out: optional(describe(texts, 'What the dump has and the snapshot has not.')),
  ...v.omit(snapshotRow, ['index', 'where']).entries,
});

export const importPlan = v.object({
  file: text,
  target: text,
  format: describe(v.picklist(['snapshot', ...DUMP_FORMATS]), '`snapshot`: a file of `tool export`; others: a dump.'),
  product: describe(text, 'Server of the snapshot or the dump: `MariaDB`.'),
  server_version: describe(orNull(text), '`null` where a dump does not tell it.'),
  bytes: number,
  modified_at: text,
  snapshot: describe(orNull(text), 'Id of the exported snapshot; `null` for a dump.'),
  place: describe(orNull(text), 'Throw-away server that the dump is restored into.'),
});

export type ImportPlan = v.InferOutput<typeof importPlan>;

export type ImportResult = v.InferOutput<typeof importResult>;

/** Something to choose from, with its size where the server can tell. */
export interface NameWithSize {
  name: string;
  size_bytes: number | null;
}
