import type { EngineId } from '../engines/list.ts';
import type { DestinationCopies } from './database-copies.ts';
import type { DefinitionOnly } from './definitions-only.ts';
import type { GitState } from './git-state.ts';
import type { HiddenObjects } from './hidden-objects.ts';
import type { LeftOutSchema } from './left-out-schemas.ts';
import type { AppliedMigrations } from './migration-results.ts';

/**
 * Results of operations: the shapes of the JSON output (docs/commands.md), so that scripts, the plain tables
 * and the screens show one truth. Sizes in bytes, durations in milliseconds, times in ISO 8601 UTC. No secrets.
 */
export interface TargetRow {
  name: string;
  title: string;
  type: 'local' | 'cloud' | 'share';
  engine: EngineId | null;
  src_url: string | null;
  dst_url: string | null;
  storage_profile: string | null;
  status: TargetStatus;
  latency_ms: number | null;
  server_version: string | null;
  size_bytes: number | null;
  /** On this machine. */
  snapshots: number;
  last_snapshot_at: string | null;
  /** Why the status is not `ok`, in full. */
  error: string | null;
  /** The same as a stable code, such as `wrong_password` or `too_many_connections`. */
  error_code: string | null;
  /** Permissions of this caller for a cloud target, such as `read_originals`. */
  permissions?: string[];
  /** Groups that may read sanitized snapshots of a cloud target, as far as the hub shows them to this caller. */
  sso_groups?: string[];
  /** The newest snapshot of a cloud target is older than the hub expects. */
  late?: boolean;
  /** Base copy, spare and branches of the destination. Absent: none, or not looked for. */
  copies?: DestinationCopies;
}

/** All that the configuration says of a target. URLs are without password; of one that cannot be read, the reason. */
export interface TargetInfo {
  source: string | null;
  destination: string | null;
  /** The setting that the destination comes from: `override.dst_db_url`. */
  destination_set_by: string | null;
  schema_config: object | null;
  storage_profile: string | null;
  /** The setting that the sanitization query comes from. */
  sanitize_query: string | null;
  sanitize_destination: string | null;
  sanitize_storage_profile: string | null;
  subset_source: string | null;
  subset_destination: string | null;
  subset_tables: string[];
  shared_storage_profile: string | null;
  sso_groups: string[];
  allow_destination_of: string[];
  cpus: number;
}

/** `missing`: the server answers, the database is not there. */
export type TargetStatus = 'ok' | 'missing' | 'denied' | 'unreachable' | 'unchecked';

/** This machine, or the bucket of a storage profile. */
export type SnapshotLocation = 'local' | 'remote';

export interface SnapshotRow {
  /** 0 is the newest. */
  index: number;
  id: string;
  created_at: string;
  sanitized: boolean;
  /** The id of the original, with which it shares the index. */
  sanitized_of?: string;
  sanitized_at?: string;
  engine: EngineId;
  server_version: string;
  /** The vendor's program that has written it, where `build --program` asked for it: `mariadb-dump 10.11.14`. */
  program?: string;
  schemas: string[];
  /** Schemas of the source that are not in it, if there are any. */
  left_out_schemas?: LeftOutSchema[];
  /** Objects that it lacks because the rights of its user did not suffice, if any. */
  hidden?: HiddenObjects[];
  /** Tables of which it holds the definition only, if there are any. */
  definitions_only?: DefinitionOnly[];
  tables: number;
  rows: number;
  /** Bytes of content. */
  size_bytes: number;
  /** Bytes that this snapshot added when it was taken. */
  stored_bytes: number;
  where: SnapshotLocation[];
  /** The git repository in whose folder it was built, if any. */
  git?: GitState;
  /** The migrations tables in it, if there are any of a known program. */
  migrations?: AppliedMigrations[];
  note: string | null;
  /** In alphabetical order, if there are any. */
  tags?: string[];
  /** Never pruned; removed on explicit request only. */
  pinned?: true;
  /** The target that built it, if another one: in the remote repository of a share target. */
  origin?: string;
  signature: SnapshotSignature;
}

/**
 * The state of the manifest's signature. `trusted` and `untrusted`: valid, and the key is in `trusted_keys` or not;
 * `valid`: without `trusted_keys`; `unchecked`: as the index of a bucket says, which is verified before the snapshot is
 * used.
 */
export interface SnapshotSignature {
  state: 'none' | 'invalid' | 'unchecked' | 'valid' | 'trusted' | 'untrusted';
  key: string | null;
}

/** A table as a snapshot holds it. */
export interface SnapshotTable extends TableSide {
  /** `schema.table` */
  table: string;
  bytes: number;
}

export interface TargetSnapshots {
  target: string;
  snapshots: SnapshotRow[];
}

export interface VerifyResult {
  target: string;
  snapshot: SnapshotRow;
  ok: boolean;
  files: number;
  bytes: number;
  /** Problems, one line a file. */
  problems: string[];
  /** Problems that were repaired by fetching the file again, one line a file. */
  repaired: string[];
  /** Snapshots, of whatever target, that have lost what could not be repaired; only where a repair was tried. */
  lost: { target: string; id: string; created_at: string }[];
}

export interface RemovePlan {
  target: string;
  snapshot: SnapshotRow;
  /** Locations from which it will be removed. */
  from: SnapshotLocation[];
  /** Bytes that no other snapshot shares, and that will be freed (at the latest a day later). */
  frees_bytes: number;
}

/** Result of a push or a pull. */
export interface TransferResult {
  target: string;
  snapshot: SnapshotRow;
  /** The other side: `s3://bucket/prefix`; `null` where a snapshot to pull is in no bucket, but on this machine. */
  storage: string | null;
  /** Objects that were lacking, and the bytes of them that were moved. */
  objects: number;
  bytes: number;
}

/** Plan of a prune. */
export interface PrunePlan {
  targets: PrunedTarget[];
  /** Bytes that nothing that is kept shares, and that will be freed (at the latest a day later). */
  frees_bytes: number;
}

export interface PrunedTarget {
  target: string;
  keep: SnapshotRow[];
  remove: SnapshotRow[];
  from: SnapshotLocation[];
  frees_bytes: number;
  /** Databases on the destination's server, which stay. Absent: none, or the server did not answer. */
  copies?: DestinationCopies;
}

/** Changes from one snapshot to another, or to the live destination. */
export interface DiffResult {
  target: string;
  from: SnapshotRow;
  /** `null` when `from` was compared with the destination. */
  to: SnapshotRow | null;
  /** Without password; `null` when two snapshots were compared. */
  destination: string | null;
  changes: TableChange[];
  /** Tables that do not differ; those of a live destination are compared by their rows. */
  unchanged: number;
  /** Migrations that only one side has, if any; not compared with a live destination. */
  migrations?: MigrationsChange[];
}

export interface MigrationsChange {
  /** The program: `rails`, `prisma`. */
  tool: string;
  /** `schema.table` of the migrations table. */
  table: string;
  only_from: string[];
  only_to: string[];
}

export interface TableChange {
  /** `schema.table` */
  table: string;
  change: 'added' | 'gone' | 'changed';
  from: TableSide | null;
  to: TableSide | null;
}

export interface TableSide {
  rows: number;
  /** Bytes of content; `null` where nobody knows. */
  bytes: number | null;
}

export interface ExportResult {
  target: string;
  snapshot: SnapshotRow;
  file: string;
  bytes: number;
}

/** The imported snapshot, and its file. */
export type ImportResult = Omit<SnapshotRow, 'index' | 'where'> & { target: string; file: string };

/** A value of the configuration in force, and where it comes from. */
export interface ExplainedValue {
  /** Dotted: `targets.app.subset.subset_tables[0].table`. */
  key: string;
  /** The same in parts, since a name may have a dot in it. */
  path: (string | number)[];
  /** A secret is `***`, a connection URL without its password. */
  value: unknown;
  origin: ValueOrigin;
}

/** Fields that do not apply to the kind are `null`. */
export interface ValueOrigin {
  kind: 'file' | 'variable' | 'default';
  file: string | null;
  line: number | null;
  variable: string | null;
}

/** Something to choose from, with its size where the server can tell. */
export interface NameWithSize {
  name: string;
  size_bytes: number | null;
}
