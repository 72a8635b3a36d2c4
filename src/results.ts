export type EngineId = 'postgres' | 'mysql';

/**
 * What operations hand back: the shapes of the JSON output (docs/commands.md), so that scripts, the plain tables
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
  snapshots: number;
  error: string | null;
}

/** `missing`: the server answers, the database is not there. */
export type TargetStatus = 'ok' | 'missing' | 'denied' | 'unreachable' | 'unchecked';

export interface SnapshotRow {
  /** 0 is the newest. */
  index: number;
  id: string;
  created_at: string;
  sanitized: boolean;
  /** The id of the original, with which it shares the index. */
  sanitized_of?: string;
  engine: EngineId;
  server_version: string;
  schemas: string[];
  tables: number;
  rows: number;
  /** Bytes of content. */
  size_bytes: number;
  /** Bytes that this snapshot added when it was taken. */
  stored_bytes: number;
  where: ('local' | 'remote')[];
  note: string | null;
}

export interface TargetSnapshots {
  target: string;
  snapshots: SnapshotRow[];
}

/** What a load is going to do, as data: printed by `--dry-run`, asked about by the skins, done by `load`. */
export interface LoadPlan {
  target: string;
  /** The snapshot to restore; `null` when a file is run instead. */
  snapshot: SnapshotRow | null;
  /** Path of the SQL file to run; `null` when a snapshot is restored. */
  file: string | null;
  destination: DestinationState;
  /** Which setting named the destination, and so why it won. */
  chosen_by: string;
  /** `swap`: restored beside and renamed; `in_place`: one transaction in the destination; `script`: the file as it is. */
  strategy: 'swap' | 'in_place' | 'script';
  /** Why this strategy and not the other. */
  strategy_reason: string;
  /** Whether the replaced database is kept for `tool undo`. */
  undo: boolean;
  schemas: string[];
  tables: number;
  rows: number;
  size_bytes: number;
  jobs: number;
  /** What will be done, in order, for people. */
  steps: string[];
  warnings: { code: string; message: string }[];
}

export interface DestinationState {
  /** Without password. */
  url: string;
  host: string;
  /** Whether the host is this machine. */
  local: boolean;
  database: string;
  exists: boolean;
  size_bytes: number | null;
  /** Sessions that other programs have open on it; they are ended by the swap. */
  connections: number;
  server_version: string;
}

export interface LoadResult {
  snapshot: SnapshotRow | null;
  destination: string;
  tables: number;
  rows: number;
  size_bytes: number;
  /** How long the destination was not there under its name. */
  swap_ms: number | null;
  /** The database that holds what was replaced, for `tool undo`. */
  undo_database: string | null;
}

export interface VerifyResult {
  target: string;
  snapshot: SnapshotRow;
  ok: boolean;
  files: number;
  bytes: number;
  /** What is wrong, one line a file. */
  problems: string[];
}

export interface UndoPlan {
  target: string;
  destination: DestinationState;
  /** The database that comes back, and when it was replaced. */
  undo_database: string;
  replaced_at: string;
  size_bytes: number;
}

export interface RemovePlan {
  target: string;
  snapshot: SnapshotRow;
  /** Bytes that no other snapshot shares, and that will be freed (at the latest a day later). */
  frees_bytes: number;
}

/** What a sanitization is going to do, as data. */
export interface SanitizePlan {
  target: string;
  /** The original; `null` when it is built first. */
  snapshot: SnapshotRow | null;
  query: {
    /** Which setting won. */
    chosen_by: string;
    file: string | null;
    base64: boolean;
    statements: { number: number; line: number; text: string }[];
  };
  /** The database that the result replaces; `null` for a throw-away one. */
  destination: DestinationState | null;
  /** Where it runs, for people. */
  where: string;
  /** Refuses to publish while personal data is left that no comment lets stay. */
  strict: boolean;
  /** Whether the replaced database is kept. */
  undo: boolean;
  steps: string[];
  warnings: { code: string; message: string }[];
}

export interface TableCoverage {
  name: string;
  state: 'changed' | 'untouched' | 'emptied' | 'dropped' | 'added';
  rows_before: number | null;
  rows_after: number | null;
}

/** A column that looks as if it held personal data, which the query has left there. */
export interface SanitizeFinding {
  /** `schema.table.column` */
  column: string;
  kind: string;
  /** The kind, for people. */
  meaning: string;
  /** What makes it look so. */
  by: 'name' | 'values';
  /** `partly`: some of the values are those of before. */
  state: 'unchanged' | 'partly';
  /** Made from other columns: change those. */
  generated: boolean;
  /** Values that are not null. */
  values: number;
  /** Masked. */
  samples: string[];
}

/** What a sanitization query has changed, and what it has not. */
export interface Coverage {
  tables: TableCoverage[];
  findings: SanitizeFinding[];
  /** Let stay by a comment in the query. */
  acknowledged: { column: string; kind: string; reason: string }[];
}

export interface SanitizeResult {
  /** The sanitized one. */
  snapshot: SnapshotRow;
  original: SnapshotRow;
  /** `null` for a throw-away database. */
  destination: string | null;
  statements: number;
  coverage: Coverage;
  swap_ms: number | null;
  undo_database: string | null;
}

export interface Suggestion {
  /** What the query is to change. */
  findings: SanitizeFinding[];
  /** SQL for a person to read and edit. */
  query: string;
}

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

/** What does not apply to the kind is `null`. */
export interface ValueOrigin {
  kind: 'file' | 'variable' | 'default';
  file: string | null;
  line: number | null;
  variable: string | null;
}
