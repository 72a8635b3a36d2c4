import type { DatabaseCopies, DatabaseCopy } from './database-copies.ts';
import type { LoadEstimate } from './history-results.ts';
import type { SnapshotRow } from './results.ts';
import type { TableSelection } from './selected-tables.ts';

/**
 * The rights of a snapshot's code while it is restored: those of a temporary user without rights outside the
 * shadow database, or of the loading user.
 */
export interface RestoredBy {
  restored_by: 'temporary_user' | 'loading_user';
  /** Why this user and not the other. */
  restored_by_reason: string;
}

/**
 * Plan of a load, as data: printed by `--dry-run`, shown before the confirmation, applied by `load`. `restored_by` is
 * absent for an SQL file.
 */
export interface LoadPlan extends Partial<RestoredBy> {
  target: string;
  /** The snapshot to restore; `null` when a file is run instead. */
  snapshot: SnapshotRow | null;
  /** Path of the SQL file to run; `null` when a snapshot is restored. */
  file: string | null;
  /** The data is sanitized; `null` where it cannot be known, as for an SQL file. */
  sanitized: boolean | null;
  /** Why it is, why it is not, or why it cannot be known. */
  sanitized_reason: string;
  destination: DestinationState;
  /** The setting that named the destination, and so why it won. */
  chosen_by: string;
  /** `swap`: restored beside and renamed; `in_place`: one transaction in the destination; `script`: the file as it is. */
  strategy: 'swap' | 'in_place' | 'script';
  /** Why this strategy and not the other. */
  strategy_reason: string;
  /** The replaced database is kept for `tool undo`. */
  undo: boolean;
  /** Keeps a base copy for `tool reset`, and a spare. Absent: none. */
  keep_base?: { spare: boolean };
  /** Copies of the last load, which the load replaces or drops. */
  copies?: DatabaseCopies;
  /** The tables that are loaded where there is a base copy. Absent: there is none. */
  difference?: LoadDifference;
  /** `tool reset` gives the same database, faster. */
  reset_instead?: true;
  /** After errors: restores the rest, and leaves it to be inspected or swaps it in. Absent: the first error ends the load. */
  keep_going?: 'inspect' | 'swap';
  schemas: string[];
  tables: number;
  rows: number;
  size_bytes: number;
  /** The selected tables; `null` when all are loaded. */
  selection: TableSelection | null;
  jobs: number;
  /** Estimated duration. Absent: there is no earlier load to estimate from. */
  estimate?: LoadEstimate;
  /** Targets of which the source could not be compared with the destination. */
  unverified_sources: string[];
  /** Steps in order, for people. */
  steps: string[];
  warnings: { code: string; message: string }[];
}

export interface LoadDifference {
  /** `difference`: the base copy is copied, and the tables that differ are loaded; `full`: all tables are loaded. */
  method: 'difference' | 'full';
  reason: string;
  /** The database, and the id of its snapshot. */
  base: string;
  base_snapshot: string | null;
  /** Loaded tables; the saved ones are not loaded because the base copy has them. */
  tables: number;
  size_bytes: number;
  saved_tables: number;
  saved_bytes: number;
}

/** The warning of a plan to load, as a superuser, what somebody else has built: it is confirmed by typing. */
export const FOREIGN_SUPERUSER = 'foreign_code_as_superuser';

export function isForeign({ warnings }: Pick<LoadPlan, 'warnings'>): boolean {
  return warnings.some(({ code }) => code === FOREIGN_SUPERUSER);
}

export interface DestinationState {
  /** Without password. */
  url: string;
  host: string;
  /** The host is this machine. */
  local: boolean;
  database: string;
  exists: boolean;
  size_bytes: number | null;
  /** Sessions that other programs have open on it; they are ended by the swap. */
  connections: number;
  server_version: string;
}

/** Parts that a load which went on after errors did not restore. */
export interface MissingParts {
  /** Objects, sequences and large objects that differ from the manifest. */
  objects: number;
  /** Tables with another number of rows than in the manifest, and how many rows they lack in all. */
  tables: number;
  rows: number;
  /** Each of them, for people. */
  differences: string[];
  /** Error messages of the server. */
  errors: string[];
}

export interface LoadResult {
  snapshot: SnapshotRow | null;
  destination: string;
  /** Number of statements of an SQL file that ran; absent for a snapshot. */
  statements?: number;
  tables: number;
  rows: number;
  size_bytes: number;
  /** The selected tables; `null` when all were loaded. */
  selection: TableSelection | null;
  /** Milliseconds for which the destination was not there under its name. */
  swap_ms: number | null;
  /** The database that holds what was replaced, for `tool undo`. */
  undo_database: string | null;
  /** Missing parts, of a load with --keep-going --accept-missing that is not complete. */
  missing?: MissingParts;
  /** Absent where there was no base copy. */
  difference?: LoadDifference;
  /** The base copy and the spare that were made. */
  base_database?: string;
  spare_database?: string;
}

export interface UndoPlan {
  target: string;
  destination: DestinationState;
  /** The database that comes back, and when it was replaced. */
  undo_database: string;
  replaced_at: string;
  size_bytes: number;
  /** Base copy and spare, which are not of the database that comes back. Absent: none. */
  copies?: DatabaseCopies;
  /** Targets of which the source could not be compared with the destination. */
  unverified_sources: string[];
}

export interface ResetPlan {
  target: string;
  destination: DestinationState;
  base: DatabaseCopy;
  /** The spare is renamed; the base copy is copied. */
  from: 'base' | 'spare';
  /** The replaced database is kept for `tool undo`. */
  undo: boolean;
  /** The next spare is made afterwards. */
  spare: boolean;
  /** Disk space that the new copies take. */
  needs_bytes: number | null;
  /** Targets of which the source could not be compared with the destination. */
  unverified_sources: string[];
  steps: string[];
  warnings: { code: string; message: string }[];
}

export interface ResetResult {
  target: string;
  destination: string;
  /** The id of the snapshot that the destination has the content of. */
  snapshot: string | null;
  loaded_at: string;
  from: 'base' | 'spare';
  size_bytes: number | null;
  swap_ms: number | null;
  undo_database: string | null;
  /** The next spare, if one was made. */
  spare_database: string | null;
}

/** The copies of a destination that `tool reset --drop` removes. */
export interface DropCopiesPlan {
  target: string;
  destination: DestinationState;
  copies: DatabaseCopy[];
}

export interface DropCopiesResult {
  target: string;
  destination: string;
  dropped: string[];
}
