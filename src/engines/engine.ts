import type { SchemaConfig } from '../config/schema/settings.ts';
import type { Manifest, ManifestFile, ManifestTable } from '../repository/manifest.ts';
import type { PackedContent, StoredObject } from '../repository/objects/object-file.ts';
import type { DestinationState, MissingParts } from '../results/load-results.ts';
import type { Sized, TargetRow } from '../results/results.ts';
import type { NeededTable } from '../results/selected-tables.ts';
import type { ProofRow } from '../results/subset-results.ts';
import type { ColumnChoices, SuggestedQuery } from '../results/suggested-query.ts';
import type { Context } from '../runtime/context.ts';
import type { WarningEvent } from '../runtime/events.ts';
import type { Semaphore } from '../runtime/semaphore.ts';
import type { ColumnDigest, ColumnFacts } from '../sanitize/column-facts.ts';
import type { Statement } from '../sanitize/statement.ts';
import type { SuspectColumn } from '../sanitize/suggestion.ts';
import type { Collected } from '../subset/collect.ts';
import type { Graph } from '../subset/graph.ts';
import type { Plan } from '../subset/plan.ts';
import type { RowFinder } from '../subset/row-finder.ts';
import type { SourceSchema } from '../subset/source-schema.ts';
import type { DatabaseIdentity } from './identity.ts';
import type { EngineId } from './list.ts';

export interface Host {
  /** Name, address or folder of a unix socket; empty for the engine's default. */
  host: string;
  /** `null` for the engine's default. */
  port: number | null;
}

/** A parsed URL. Only `display` may be shown: other fields contain secrets. */
export interface DatabaseUrl {
  engine: EngineId;
  user: string | null;
  password: string | null;
  hosts: Host[];
  database: string | null;
  parameters: Record<string, string>;
  inContainer: boolean;
  display: string;
  toJSON: () => string;
}

export type EngineContext = Pick<Context, 'runner' | 'containers' | 'report' | 'signal' | 'clock' | 'environment'>;

export interface ToolReport {
  name: string;
  path: string;
  version: string;
}

export interface DumpRequest {
  url: DatabaseUrl;
  schemaConfig: SchemaConfig | undefined;
  /** Also dumps schemas that chosen tables cannot be restored without; refused otherwise. */
  includeNeededSchemas?: boolean | undefined;
  jobs: number;
  /** Dump with the vendor's program, where the engine can also read the database itself. */
  program?: boolean;
  /** The snapshot that the database is a copy of: names in the dump are those of this snapshot. */
  copyOf?: Manifest | undefined;
  /** The last snapshot of the target, whatever its engine. */
  previous: Manifest | undefined;
  directory: string;
  expectedBytes: (table: string) => number | undefined;
  /** Stores a file of `directory`, which may still be growing, and removes it. */
  pack(file: FileToPack): Promise<PackedFile>;
  /** Stores small contents that are in memory, and takes them over. */
  packContents(files: ContentToPack[]): Promise<PackedFile[]>;
  /** Stores what the engine packs itself into `destination`, or finds equal to the object that was `stored` before. */
  packWith(name: string, pack: PackItself): Promise<PackedFile>;
  /** No file grows any more. */
  finish(): void;
}

export type PackItself = (destination: string, stored: StoredObject | null) => Promise<PackedContent>;

export interface FileToPack {
  name: string;
  /** Ends a complete file; `null` when only the writer knows. */
  terminator: string | null;
  onBytes: (bytes: number) => void;
  /** Whether or when the file is complete; otherwise `finish` says so of all. */
  grown?: true | Promise<unknown>;
}

export interface ContentToPack {
  name: string;
  content: Uint8Array<ArrayBuffer>;
  terminator: string;
}

export interface PackedFile {
  file: ManifestFile;
  /** Line feeds in the content. */
  lines: number;
  terminated: boolean;
}

export type DumpResult = {
  serverVersion: string;
  toolVersion: string;
  /** Of the database, where the dump's own session has told it. */
  identity?: DatabaseIdentity;
} & Pick<Manifest, 'schemas' | 'tables' | 'files' | 'details'>;

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
  /** Drops foreign keys of other databases to tables of the destination; the load is refused otherwise. */
  dropForeignReferences?: boolean | undefined;
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
  /** Loads all tables, even where a base copy has most of them. */
  full?: boolean | undefined;
  /** Superuser of a throw-away server, for objects that the user of `url` may not create. */
  admin?: DatabaseUrl | undefined;
}

export interface RestorePlan {
  destination: DestinationState;
  strategy: 'swap' | 'in_place';
  strategyReason: string;
  schemas: string[];
  tables: ManifestTable[];
  /** Created without rows. */
  empty: ManifestTable[];
  warnings: WarningEvent[];
  /** Base copy and spare that the swap replaces; absent in place. */
  copies?: BaseCopies;
  /** Absent where there is no base copy. */
  difference?: DifferencePlan;
}

/** Whether only the tables that differ from the base copy are loaded, into a copy of it. */
export interface DifferencePlan {
  /** The database, its snapshot and the time of its load. */
  base: string;
  snapshot: string | null;
  loadedAt: string;
  /** The names of the tables to load; `null` for a full load. */
  tables: string[] | null;
  /** Files that are needed besides those of the tables; all for a full load. */
  files: string[] | null;
  reason: string;
}

export interface DefinitionsRequest {
  url: DatabaseUrl;
  manifest: Manifest;
  directory: string;
  read: RestoreRun['read'];
}

/** A table of a snapshot, `schema.table`. */
export interface TableRequest extends Pick<DefinitionsRequest, 'manifest' | 'read'> {
  table: string;
}

export interface StoredTable {
  /** Table, indexes, constraints and triggers, in an order that does not change. */
  text: string;
  /** Columns of the primary key; empty without one. */
  key: string[];
}

export interface RestoreRun extends RestoreRequest {
  plan: RestorePlan;
  jobs: number;
  undo: boolean;
  directory: string;
  /** A file of the snapshot, verified while it is read; the reader owns each part. */
  read(file: ManifestFile): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Called with the verified shadow database before the swap; not for a load in place. */
  beforeSwap?: (fresh: DatabaseUrl) => Promise<void>;
  throwAway?: boolean;
  /** Makes a base copy, and does not replace the destination. */
  onlyBase?: boolean;
}

export interface Replaced {
  /** How long the destination was unavailable; `null` for a load in place. */
  swapMs: number | null;
  undoDatabase: string | null;
  missing?: MissingParts;
  /** The base copy and the spare that were made. */
  baseDatabase?: string;
  spareDatabase?: string;
}

/** A copy of a destination as its last load left it; refuses connections. */
export interface BaseCopy {
  name: string;
  /** The snapshot's id. */
  snapshot: string | null;
  loadedAt: string;
  /** The load lacked rows or objects of the snapshot. */
  partial: boolean;
  sizeBytes: number | null;
  /** Why no reset can use it; `null` where one can. */
  outdated: string | null;
  /** Whether nobody is known to have changed it, so that branches can be made from it. */
  closed: boolean;
}

export interface BaseCopies {
  base: BaseCopy | null;
  spare: BaseCopy | null;
}

export interface ResetRequest {
  url: DatabaseUrl;
  /** Makes the next spare after the swap. */
  spare: boolean;
}

export interface ResetRun extends ResetRequest {
  undo: boolean;
  /** Called under the lock with the base copy; throws where it is not the planned one. */
  accept: (base: BaseCopy) => void;
  /** Owner of the objects; by default the owner of the replaced database. */
  role?: string | undefined;
}

export interface Resettable {
  destination: DestinationState;
  base: BaseCopy;
  /** The spare is renamed, the base copy is copied. */
  from: 'base' | 'spare';
  /** How a copy of the base copy is made. */
  by: 'files' | 'rows';
  /** Databases to make, of the size of the base copy. */
  copies: number;
  warnings: WarningEvent[];
}

/** A separate database that was made from the base copy of a destination. */
export interface Branch {
  name: string;
  /** That of the destination after a switch. */
  database: string;
  /** The destination has this name at present. */
  current: boolean;
  createdAt: string;
  resetAt: string | null;
  /** The snapshot's id; `null` where another load has replaced its content since. */
  snapshot: string | null;
  repository: string | null;
  gitBranch: string | null;
  /** The agent that has created it; absent or `null` for none. */
  owner?: string | null;
  sizeBytes: number | null;
  /** Without blocks shared with the base copy; `null` where the server cannot tell. */
  ownBytes: number | null;
  clients: number;
  /** Client sessions since it was created or reset; `null` where the server does not count them. */
  sessions: number | null;
}

/** All databases that were made from a destination, or for it. */
export interface AllCopies extends BaseCopies {
  branches: Branch[];
}

export interface BranchRequest {
  /** The destination. */
  url: DatabaseUrl;
  name: string;
}

export interface BranchPlanRequest {
  url: DatabaseUrl;
  /** How many copies of the base copy exist at the same time, given the present branches. */
  copies: (present: Branch[]) => number;
}

export interface BranchPlan {
  destination: DestinationState;
  base: BaseCopy | null;
  branches: Branch[];
  /** Whether the server asks the file system for clones, which share the blocks of the base copy. */
  clones: boolean;
  /** Disk space of the copies, for which there is room as far as the server can tell; clones count as one copy. */
  needsBytes: number | null;
}

export interface BranchCreation extends BranchRequest {
  /** Name of the database. */
  database: string;
  repository: string | null;
  gitBranch: string | null;
  /** Recorded in the mark: only this agent may reset and drop the branch. */
  owner?: string | null;
  /** Owner of the objects; by default the owner of the destination. */
  role?: string | undefined;
  /** Called with the base copy; throws where it is not the planned one. */
  accept: (base: BaseCopy) => void;
  /** Runs the copy when it is its turn: more branches are in work than copies. */
  inTurn: Semaphore;
}

export interface BranchReset extends BranchRequest {
  accept: (base: BaseCopy) => void;
  role?: string | undefined;
}

export interface Switched extends Replaced {
  /** The branch that had the destination's name before, which has its own name again. */
  previous: string | null;
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

export interface Kept {
  undoDatabase: string;
  replacedAt: string;
  sizeBytes: number;
  destination: DestinationState;
}

export type ProbeState = Pick<
  TargetRow,
  'status' | 'latency_ms' | 'server_version' | 'size_bytes' | 'error' | 'error_code'
>;

export interface Probe {
  state: ProbeState;
  identity: DatabaseIdentity | null;
}

export interface ProbeRequest {
  /** Databases that can share one connection (`connectionKey`), the most urgent first. */
  urls: DatabaseUrl[];
  sizes: boolean;
  /** Called for each URL when its state is known, and again when its size is. */
  take: (index: number, probe: Probe) => void;
}

/** A database that a load would replace, rename or drop: the destination, its copies, shadow databases. */
export interface AffectedDatabase {
  name: string;
  identity: DatabaseIdentity;
}

export interface Engine {
  id: EngineId;
  capabilities: Capabilities;
  connect: ConnectFacet;
  dump: DumpFacet;
  restore: RestoreFacet;
  sanitize: SanitizeFacet;
  subset: SubsetFacet;
  branches: BranchFacet;
}

export interface Capabilities {
  /** Why a restore stops at its first error; `null` where it can continue. */
  whyNotKeepGoing: string | null;
  /** The vendor's program that makes every dump; `null` where the engine reads the database itself. */
  onlyProgram: string | null;
  /** Whether a script that fails on an existing database leaves it unchanged. */
  scriptsRollBack: boolean;
}

export interface ConnectFacet {
  parseUrl(text: string): DatabaseUrl;
  reportTools(context: EngineContext): Promise<ToolReport[]>;
  /** The states of databases through one connection; failures are states, not errors. */
  probe(context: EngineContext, request: ProbeRequest): Promise<void>;
  listDatabases(context: EngineContext, url: DatabaseUrl): Promise<Sized[]>;
  listSchemas?(context: EngineContext, url: DatabaseUrl): Promise<Sized[]>;
  /** Named as in the configuration: `schema.table`. */
  listTables(context: EngineContext, url: DatabaseUrl): Promise<Sized[]>;
  /** Every known address of the server, such as `127.0.0.1:5432`, found without a connection. */
  addressesOf(context: EngineContext, url: DatabaseUrl): Promise<Set<string>>;
  /** The database of the URL, equal for all spellings; `null` where only the server knows. */
  databaseOf(context: EngineContext, url: DatabaseUrl): string | null;
  identifyAffected(context: EngineContext, url: DatabaseUrl): Promise<AffectedDatabase[]>;
  isSuperuser(context: EngineContext, url: DatabaseUrl): Promise<boolean>;
  inspect(context: EngineContext, url: DatabaseUrl): Promise<DestinationState>;
  /** Rows of every table by its name in the snapshot, where the engine can tell. */
  countRows?(context: EngineContext, live: { url: DatabaseUrl; manifest: Manifest }): Promise<Map<string, number>>;
  /** The interactive client on a database; files that it reads are written to the directory. */
  clientProgram(context: EngineContext, request: { url: DatabaseUrl; directory: string }): Promise<ClientProgram>;
  /** Where `countRows` is there. */
  readSmallTables?(context: EngineContext, request: SmallTablesRequest): Promise<SmallTable[]>;
}

/** The password is in the environment or in a file, never in the arguments. */
export interface ClientProgram {
  file: string;
  args: string[];
  env: Record<string, string>;
}

export interface SmallTablesRequest {
  url: DatabaseUrl;
  manifest: Manifest;
  /** In lower case, in any schema. */
  names: string[];
  mostTables: number;
  /** A table with more rows is left out. */
  mostRows: number;
  /** Characters of a value; the rest is cut. */
  longest: number;
}

export interface SmallTable {
  /** Its name in the snapshot. */
  table: string;
  columns: string[];
  rows: (string | null)[][];
}

export interface DumpFacet {
  run(context: EngineContext, request: DumpRequest): Promise<DumpResult>;
}

export interface RestoreFacet {
  /** Tables that need other tables, by the definitions in the snapshot. */
  readNeeds(context: EngineContext, request: DefinitionsRequest): Promise<NeededTable[]>;
  /** The statements that define a table, as the snapshot has them; `null` where their format is unknown. */
  readTable(context: EngineContext, request: TableRequest): Promise<StoredTable | null>;
  plan(context: EngineContext, request: RestoreRequest): Promise<RestorePlan>;
  run(context: EngineContext, run: RestoreRun): Promise<Replaced>;
  runScript(context: EngineContext, run: ScriptRun): Promise<Replaced>;
  findKept(context: EngineContext, url: DatabaseUrl): Promise<Kept>;
  undo(context: EngineContext, url: DatabaseUrl): Promise<Replaced>;
  planReset(context: EngineContext, request: ResetRequest): Promise<Resettable>;
  reset(context: EngineContext, run: ResetRun): Promise<Replaced>;
  /** Base copy and spare of a destination. */
  findCopies(context: EngineContext, url: DatabaseUrl): Promise<BaseCopies>;
  /** With branches, of several databases that can share one connection (`connectionKey`), in their order. */
  findAllCopies(context: EngineContext, request: { urls: DatabaseUrl[] }): Promise<AllCopies[]>;
  dropCopies(context: EngineContext, url: DatabaseUrl): Promise<string[]>;
}

/** Each call takes the URL of the destination. */
export interface BranchFacet {
  /** The longest name of a database, in units of `lengthOf`. */
  nameLimit: { most: number; lengthOf: (text: string) => number };
  /** How the server makes a copy of the base copy. */
  copiedBy: 'files' | 'rows';
  list(context: EngineContext, url: DatabaseUrl): Promise<Branch[]>;
  /** The URL of another database of the server. */
  urlOf(url: DatabaseUrl, database: string): DatabaseUrl;
  /** As text for other programs, with its password. */
  urlWithPassword(url: DatabaseUrl): string;
  /** Rejects where the disk has no space for the copies of the base copy that exist at the same time. */
  plan(context: EngineContext, request: BranchPlanRequest): Promise<BranchPlan>;
  create(context: EngineContext, creation: BranchCreation): Promise<void>;
  /** Resolves with how long the branch was unavailable, in milliseconds. */
  reset(context: EngineContext, reset: BranchReset): Promise<Replaced>;
  /** `false` where it was gone already. */
  drop(context: EngineContext, request: BranchRequest): Promise<boolean>;
  switchTo(context: EngineContext, request: BranchRequest): Promise<Switched>;
}

/** The database is always a new copy without other users. */
export interface SanitizeFacet {
  /** Throws with the line of a statement that is not understood or not allowed. */
  splitQuery(query: string): Statement[];
  readColumns(context: EngineContext, request: ColumnsRequest): Promise<ColumnFacts[]>;
  /** By column name, without dropped columns. */
  digestColumns(context: EngineContext, url: DatabaseUrl, columns: ColumnFacts[]): Promise<Map<string, ColumnDigest>>;
  /** An error names the failed statement. Step: `query`. */
  runQuery(context: EngineContext, run: QueryRun): Promise<void>;
  /** Removes remnants of old values: materialized views, statistics, dead rows. */
  removeTraces(context: EngineContext, traces: Traces): Promise<void>;
  suggestQuery(context: EngineContext, request: SuggestionRequest): Promise<SuggestedQuery>;
  /** Computes and assigns the replacements for a few rows of each column, and rolls back. */
  tryReplacements(context: EngineContext, request: ReplacementTrial): Promise<TriedReplacement[]>;
  /** Places for a temporary database, the best first. */
  scratchPlaces(context: EngineContext, destination: DatabaseUrl | null): Promise<ScratchPlace[]>;
}

export interface ColumnsRequest {
  url: DatabaseUrl;
  manifest: Manifest;
}

export interface QueryRun {
  url: DatabaseUrl;
  manifest: Manifest;
  statements: Statement[];
}

export interface Traces {
  url: DatabaseUrl;
  dump: DumpResult;
  changed: string[];
}

export interface SuggestionRequest {
  url: DatabaseUrl;
  columns: ColumnFacts[];
  suspects: SuspectColumn[];
}

export interface ReplacementTrial {
  /** The restored copy, which is dropped afterwards. */
  url: DatabaseUrl;
  manifest: Manifest;
  query: SuggestedQuery;
  choices: ColumnChoices;
  columns: {
    /** `schema.table.column` */
    column: string;
    /** Names and new value in SQL; the value is one expression. */
    table: string;
    name: string;
    sql: string;
  }[];
  /** Of each column, those with a value. */
  rows: number;
}

export interface TriedReplacement {
  column: string;
  values: { before: string | null; after: string | null }[];
  /** Why the server refused the expression or its value. */
  error: string | null;
}

export interface ScratchPlace {
  /** `a throw-away PostgreSQL server` */
  label: string;
  /** The database to restore into; disposing removes the whole place. */
  open(context: EngineContext, options?: PlaceOptions): Promise<OpenedPlace>;
}

export interface PlaceOptions {
  superuser?: boolean;
}

export interface OpenedPlace extends AsyncDisposable {
  url: DatabaseUrl;
  admin?: DatabaseUrl;
}

export interface SubsetFacet {
  /** Reads a source at one instant, until it is disposed. */
  openSource(context: EngineContext, request: { url: DatabaseUrl; jobs: number }): Promise<SubsetSource>;
  /** Refuses a destination without the right to create a database. */
  checkDestination(context: EngineContext, url: DatabaseUrl): Promise<void>;
  createIndex(table: string, columns: string[]): string;
}

export interface SubsetSource extends AsyncDisposable {
  facts: SourceSchema;
  warnings: { code: string; message: string }[];
  /** `seed`: another selection of a percentage. */
  finder(graph: Graph, seed: number): Promise<RowFinder>;
  /** By primary key, its columns in order; `null` when there is none. */
  findRow(table: string, key: string[]): Promise<number | null>;
  /** The primary key of a row as text; its location without one. */
  nameRow(table: string, row: number): Promise<string>;
  make(context: EngineContext, run: SubsetRun): Promise<Made>;
}

export interface SubsetRun {
  url: DatabaseUrl;
  plan: Plan;
  collected: Collected;
  jobs: number;
  undo: boolean;
  directory: string;
}

export interface Made {
  replaced: Replaced;
  rows: Map<string, number>;
  proof: ProofRow[];
}
