import type { SchemaConfig } from '../../config/schema/settings.ts';
import type { Manifest, ManifestFile, ManifestTable } from '../../repository/manifest/manifest.ts';
import type { WarningEvent } from '../../results/events.ts';
import type { DestinationState, MissingParts } from '../../results/load-results.ts';
import type { NeededTable } from '../../results/selected-tables.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { WithoutUrl } from '../engine-context.ts';
import type { BaseChanges, BaseChangesRequest, ChangesToWrite } from './changes.ts';
import type { AllCopies, BaseCopies, RestoredBranch } from './copies.ts';
import type { DumpFile, RestoredDump } from './dump-file.ts';
import type { DestinationResetRequest, InPlaceChanges, InPlaceReset, ResetRun, Resettable } from './reset.ts';

/** Methods whose comment names no effect read only, and can be called again. */
export interface RestoreFacet {
  /** Tables that need other tables, by the definitions in the snapshot. */
  readNeeds(request: WithoutUrl<DefinitionsRequest>): Promise<NeededTable[]>;
  /** Rejects where the destination lacks rights, space, extensions or roles, or something would block the swap. */
  plan(request: WithoutUrl<RestoreRequest>): Promise<RestorePlan>;
  /** Chooses the restoring user as `plan` does; for plans without a snapshot. */
  chooseRestorer(request: WithoutUrl<RestorerRequest>): Promise<RestoringUser>;
  /**
   * Replaces the destination by the snapshot, under its lock. A failure leaves the destination unchanged and drops the
   * shadow database, or the next run does. A second call replaces the result of the first one, and its undo copy.
   */
  run(run: WithoutUrl<RestoreRun>): Promise<ReplaceResult>;
  /** Reads an SQL file without running it; refuses client commands and statements for another database. */
  checkScript(file: string): Promise<ScriptFacts>;
  /**
   * Runs the file in a shadow database, and replaces the destination as `run` does; or on the destination, where a
   * failure undoes only a file that `rollsBack`, and a second call runs it twice. Checks the file first.
   */
  runScript(run: WithoutUrl<ScriptRun>): Promise<ScriptResult>;
  /** The definitions of tables in the destination, by their `structure`; `null` where a table does not exist. */
  readPresentTables(request: { tables: string[]; directory: string }): Promise<Map<string, string | null>>;
  /**
   * Statements that make changes of rows again in a database that is as before them; those of the present one have the
   * same definitions. Rejects with `changes_not_as_sql` where none can.
   */
  changeStatements(request: WithoutUrl<ChangesToWrite>): Promise<Iterable<string>>;
  /** Reads the rows that differ from the base copy; `null` where they cannot be told apart from the others without reading all. Steps: `dump`. */
  readBaseChanges(request: WithoutUrl<BaseChangesRequest>): Promise<BaseChanges | null>;
  /**
   * Fills a new database of a throw-away server, the one of the URL, with a dump, as a user without access to files and
   * programs of the server.
   */
  restoreDump(dump: DumpFile): Promise<RestoredDump>;
  /** Read before the present state is saved: tells the run whether the database was written to since (`unchangedSince`). */
  readChangeMark(): Promise<unknown>;
  /** Rejects with `nothing_to_undo` where there is none. */
  findUndoCopy(): Promise<UndoCopy>;
  /** Swaps the destination with its undo copy; a failure changes nothing. A second call restores the present state. */
  undo(request: { directory: string }): Promise<ReplaceResult>;
  /** Rejects where no base copy can be used, or the disk has no space. */
  planReset(request: WithoutUrl<DestinationResetRequest>): Promise<Resettable>;
  /**
   * Replaces the destination by its spare or a copy of its base copy, as `run` does. A second call replaces it again,
   * with the same content.
   */
  reset(run: WithoutUrl<ResetRun>): Promise<ReplaceResult>;
  /**
   * Makes the rows of the destination those of its base copy, in one transaction that ends no session. Resolves with the
   * reason where that cannot be, having changed nothing. A second call finds no change.
   */
  resetInPlace(reset: WithoutUrl<InPlaceReset>): Promise<InPlaceChanges | string>;
  /** Base copy and spare of a destination. */
  findCopies(): Promise<BaseCopies>;
  /** With branches, of several databases that can share one connection (`connectionKey`), in their order. */
  findAllCopies(urls: DatabaseUrl[]): Promise<AllCopies[]>;
  /** Drops base copy and spare, and resolves with their names. A second call drops those that a failure has left. */
  dropCopies(): Promise<string[]>;
}

export interface RestoreRequest {
  url: DatabaseUrl;
  manifest: Manifest;
  schemaConfig: SchemaConfig | undefined;
  /** Into the destination itself, in one transaction, even where a shadow database is possible. */
  inPlace: boolean;
  /** After errors: stop before the swap for inspection, or swap an incomplete database. */
  keepGoing?: 'inspect' | 'swap' | undefined;
  /** The caller refuses an in-place plan, so that none is prepared. */
  neverInPlace?: boolean;
  /** Tables to load rows of; all when absent. */
  only?: ReadonlySet<string>;
  /** Also creates tables whose rows are outside the database (FEDERATED). */
  remoteTables?: boolean | undefined;
  /** Keeps events enabled; they are created disabled otherwise. */
  events?: boolean | undefined;
  /** Owner of the restored objects; by default the owner of the replaced database. */
  role?: string | undefined;
  /** Keeps a base copy of the restored database, with a spare where that is set; ignored in place. */
  keepBase?: { spare: boolean } | undefined;
  /** Keeps a base copy also where the load is made from the present one, if there is space for another. */
  keepUsedBase?: boolean;
  /** Base copy and spare remain those of the destination, as its last load left it; without `keepBase`. */
  keepsCopies?: boolean | undefined;
  /** Loads all tables, even where a base copy has most of them. */
  full?: boolean | undefined;
  /** Replaces the rows of the tables in `only` in the present destination, and nothing else. */
  onlyRows?: boolean | undefined;
  /** With `onlyRows` and one table: the primary keys of the only rows, as a person wrote them. */
  keys?: string[] | undefined;
  /** Restores the content with the rights of the user of `url`. */
  allowSuperuser?: boolean | undefined;
  /** This machine has built the snapshot: what only a superuser may create was created by one in the source. */
  builtHere?: boolean | undefined;
  /** Finds the snapshot of a base copy by its id; `null` where this machine does not have it. */
  earlier?: (snapshot: string) => Promise<EarlierSnapshot | null>;
}

export interface EarlierSnapshot {
  manifest: Manifest;
  read: RestoreRun['read'];
}

export interface RestorePlan {
  destination: DestinationState;
  strategy: 'swap' | 'in_place' | 'rows';
  strategyReason: string;
  restoredBy: RestoringUser;
  schemas: string[];
  tables: ManifestTable[];
  /** Created without rows. */
  empty: ManifestTable[];
  warnings: WarningEvent[];
  /** Base copy and spare that the swap replaces; absent in place. */
  copies?: BaseCopies;
  /** Absent where there is no base copy. */
  difference?: DifferencePlan;
  /** The base copy that is used, or could be, will be replaced by one of the new state. */
  keepsUsedBase?: true;
  /** Present for strategy `rows` only. */
  onlyRows?: OnlyRowsPlan;
}

/** Rows of a table by its primary key, as text that equal values share. */
export interface RowKeys {
  column: string;
  values: string[];
}

export interface OnlyRowsPlan {
  /** The only rows to replace. Absent: all. */
  keys?: RowKeys;
  /** Rows of the tables in the destination at present; with `keys`, of these. */
  present: { table: string; rows: number }[];
  /** Materialized views that read the tables, and are not refreshed. */
  materializedViews: string[];
  /** The replaced rows can be kept for an undo. */
  keeps: boolean;
  /** Code of other roles in the destination may run with the rights of a superuser. */
  allowsCode: boolean;
}

/** User that restores the content of a snapshot, with whose rights its code runs. */
export type RestoringUser =
  /** One of its own, without rights outside the shadow database; `superuser` is the loading user. */
  { user: 'temporary'; superuser: boolean } | { user: 'loading'; name: string; reason: string };

export interface RestorerRequest
  extends Pick<RestoreRequest, 'url' | 'allowSuperuser' | 'builtHere' | 'neverInPlace' | 'remoteTables'> {
  superuserObjects?: string[];
}

/** Plan to load only the tables that differ from the base copy, into a copy of it; or the reason for a full load. */
export interface DifferencePlan {
  /** The database, its snapshot and the time of its load. */
  base: string;
  snapshot: string | null;
  loadedAt: string;
  /** The names of the tables to load; `null` for a full load. */
  tables: string[] | null;
  /** The way of each of them. */
  ways: TableWay[];
  /** Rows that loads by rows have deleted from tables of the base copy, since these were loaded whole. */
  deleted: Record<string, number>;
  /** Files that are needed besides those of the tables; all for a full load. */
  files: string[] | null;
  reason: string;
  /** The base copy can be used, and a full load is as good. */
  savesNothing?: true;
}

export interface TableWay {
  table: string;
  /** Rows that differ, in place of those of the base copy; or all rows, into an empty table. */
  way: 'rows' | 'whole';
  reason: string;
  /** Content to read of the snapshot. */
  bytes: number;
  /** Digest of its content in the base copy, of a load by rows. */
  before?: string;
  /** Rows that were deleted and inserted, of a load by rows; an updated row is in both. */
  changed?: { deleted: number; inserted: number };
}

export interface DefinitionsRequest {
  url: DatabaseUrl;
  manifest: Manifest;
  read: RestoreRun['read'];
}

/** A table of a snapshot, `schema.table`. */
export interface TableRequest extends Pick<DefinitionsRequest, 'manifest' | 'read'> {
  table: string;
}

export interface StoredTable {
  /** Table, indexes, constraints and triggers, in an order that does not change. */
  text: string;
  /** The same without what rows change: equal tables have an equal one. */
  structure: string;
  /** Columns of the primary key; empty without one. */
  key: string[];
}

export interface RestoreRun extends RestoreRequest {
  plan: RestorePlan;
  cpus: number;
  undo: boolean;
  /**
   * A change mark: without `undo`, the replaced database remains as the undo copy unless it is known to be as when the
   * mark was read.
   */
  unchangedSince?: unknown;
  /** Reads a fingerprint of the new database before the swap, where the engine has one. */
  fingerprint?: boolean | undefined;
  directory: string;
  /** A file of the snapshot, verified while it is read; the reader owns each part. */
  read(file: ManifestFile): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Called with the verified shadow database before the swap; not for a load in place. */
  beforeSwap?: (shadow: DatabaseUrl) => Promise<void>;
  /**
   * Called with the verified shadow database as the user of `url`, when the database has its owner and grants, before its
   * base copy and the swap. It may change everything. Never called in place.
   */
  afterLoad?: ((shadow: DatabaseUrl) => Promise<void>) | undefined;
  throwAway?: boolean;
  /** Makes a base copy, and does not replace the destination. */
  onlyBase?: boolean;
  /** The database of `url` is a branch, and remains it; rejects where that is no longer so. */
  branch?: RestoredBranch | undefined;
}

export interface ReplaceResult {
  /** Milliseconds for which the destination was unavailable; `null` for a load in place. */
  swapMs: number | null;
  undoDatabase: string | null;
  missing?: MissingParts;
  /** With `fingerprint`: proves later that the database is unchanged; JSON that only the engine reads. */
  fingerprint?: unknown;
  /** Proves to the next save which rows are those of the snapshot, as `DumpResult.evidence` of a build of the destination. */
  evidence?: unknown;
  /** The way of each table; of a load from the base copy only. */
  ways?: TableWay[];
  /** The base copy and the spare that were made. */
  baseDatabase?: string;
  spareDatabase?: string;
}

export interface ScriptRun {
  url: DatabaseUrl;
  file: string;
  /** On the existing database; otherwise into a shadow database. */
  asItIs: boolean;
  undo: boolean;
  role?: string | undefined;
  events?: boolean | undefined;
  directory: string;
}

export interface ScriptFacts {
  statements: number;
  /** A failure on an existing database leaves it unchanged. */
  rollsBack: boolean;
  warnings: { code: string; message: string }[];
}

export interface ScriptResult extends ReplaceResult {
  statements: number;
}

export interface UndoCopy {
  undoDatabase: string;
  replacedAt: string;
  sizeBytes: number;
  destination: DestinationState;
  /** It has the rows of these tables only, which the last load replaced. */
  tables?: string[];
  /** Base copy and spare are of the database that comes back as well. */
  keepsCopies?: true;
  /** The database that is dropped when another one becomes the undo copy, where it can be read as any database. */
  retires?: Pick<UndoCopy, 'undoDatabase' | 'replacedAt' | 'sizeBytes'>;
}
