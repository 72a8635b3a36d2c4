import type { SchemaConfig } from '../config/schema/settings.ts';
import type { Manifest, ManifestFile, ManifestTable } from '../repository/manifest.ts';
import type { DestinationState, MissingParts, Sized, TargetRow } from '../results/results.ts';
import type { NeededTable } from '../results/selected-tables.ts';
import type { ProofRow } from '../results/subset-results.ts';
import type { Context } from '../runtime/context.ts';
import type { WarningEvent } from '../runtime/events.ts';
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
  /** Name, address or the folder of a unix socket; empty for the engine's own default. */
  host: string;
  /** `null` for the engine's own default. */
  port: number | null;
}

/** A connection URL taken apart. Never print its fields: print `display`, which JSON also gives. */
export interface DatabaseUrl {
  engine: EngineId;
  user: string | null;
  password: string | null;
  hosts: Host[];
  database: string | null;
  /** Every other parameter, passed on unharmed. */
  parameters: Record<string, string>;
  /** Whether its scheme asks for tools in a container: `pgdocker://`. */
  inContainer: boolean;
  /** `postgres://user@host:5432/db`: without password and parameters. */
  display: string;
  toJSON: () => string;
}

/** What an engine is handed of a Context. */
export type EngineContext = Pick<Context, 'runner' | 'containers' | 'report' | 'signal' | 'clock' | 'environment'>;

/** A client program, as `config check` shows it. */
export interface ToolReport {
  name: string;
  path: string;
  version: string;
}

export interface DumpRequest {
  url: DatabaseUrl;
  schemaConfig: SchemaConfig | undefined;
  /** Also dumps schemas without which tables of the chosen ones cannot be restored, instead of a refusal. */
  includeNeededSchemas?: boolean | undefined;
  /** How many tables are dumped at the same moment. */
  jobs: number;
  /** By the vendor's own program, where the engine otherwise reads the database itself. */
  program?: boolean;
  /** The snapshot of which the database is a copy: what this is called there it is called in the new one too. */
  copyOf?: Manifest | undefined;
  /** An empty folder for the tool's files. */
  directory: string;
  /** Bytes of a table's content in the last snapshot, if there is one. */
  expectedBytes: (table: string) => number | undefined;
  /** Stores a file of `directory`, which may still be growing, and removes it. */
  pack(file: FileToPack): Promise<PackedFile>;
  /** Stores contents that are in memory and small, and are handed over. */
  packContents(files: ContentToPack[]): Promise<PackedFile[]>;
  /** Says that no file grows any more. */
  finish(): void;
}

export interface FileToPack {
  name: string;
  /** What ends the file when it is complete; `null` when only its writer knows. */
  terminator: string | null;
  onBytes: (bytes: number) => void;
}

export interface ContentToPack {
  name: string;
  content: Uint8Array<ArrayBuffer>;
  /** What ends the content when it is complete. */
  terminator: string;
}

export interface PackedFile {
  file: ManifestFile;
  /** Line feeds in the content. */
  lines: number;
  /** Whether the content ends with the terminator. */
  terminated: boolean;
}

export type DumpResult = {
  serverVersion: string;
  toolVersion: string;
} & Pick<Manifest, 'schemas' | 'tables' | 'files' | 'details'>;

export interface RestoreRequest {
  url: DatabaseUrl;
  manifest: Manifest;
  schemaConfig: SchemaConfig | undefined;
  /** Into the destination itself, in one transaction, even where a second database could be made. */
  inPlace: boolean;
  /** Restores what can be restored, and stops before the swap, or swaps, when something is missing. */
  keepGoing?: 'inspect' | 'swap' | undefined;
  /** The caller refuses a plan in place, so that nothing of one is looked into. */
  neverInPlace?: boolean;
  /** Drops foreign keys of other databases that reference tables of the destination; otherwise they refuse the load. */
  dropForeignReferences?: boolean | undefined;
  /** Names of the tables whose rows are loaded, where it is not all of them. */
  only?: ReadonlySet<string>;
  /** Creates tables whose rows are outside the database, such as FEDERATED tables, too. */
  remoteTables?: boolean | undefined;
  /** Lets the events of the snapshot run; they arrive disabled otherwise. */
  events?: boolean | undefined;
  /** Who is to own the restored objects, where that is not the owner of the replaced database. */
  role?: string | undefined;
  /** The superuser of a server of our own, who creates what the user of `url` may not. */
  admin?: DatabaseUrl | undefined;
}

/** What a restore would do, found out without changing anything. */
export interface RestorePlan {
  destination: DestinationState;
  strategy: 'swap' | 'in_place';
  /** Why this strategy and not the other. */
  strategyReason: string;
  schemas: string[];
  /** Those whose rows are loaded. */
  tables: ManifestTable[];
  /** Those that are made without their rows. */
  empty: ManifestTable[];
  warnings: WarningEvent[];
}

export interface DefinitionsRequest {
  /** Where the snapshot would be restored: the tools are those that fit it. */
  url: DatabaseUrl;
  manifest: Manifest;
  /** An empty folder for the tool's files. */
  directory: string;
  /** A file of the snapshot, as in a restore. */
  read: RestoreRun['read'];
}

export interface RestoreRun extends RestoreRequest {
  plan: RestorePlan;
  jobs: number;
  /** Keeps the database that is replaced. */
  undo: boolean;
  /** An empty folder for the tool's files. */
  directory: string;
  /** A file of the snapshot, checked against its checksum while it is read; the reader owns each part. */
  read(file: ManifestFile): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Called with the new database, complete and checked, before it takes the destination's name; not in place. */
  beforeSwap?: (fresh: DatabaseUrl) => Promise<void>;
  /** Drops the new database in the end, instead of giving it the destination's name. */
  throwAway?: boolean;
}

export interface Replaced {
  /** How long the destination was not there under its name; `null` when it was changed in place. */
  swapMs: number | null;
  /** The database that holds what was replaced. */
  undoDatabase: string | null;
  /** What a restore that went on after errors lacks. */
  missing?: MissingParts;
}

export interface ScriptRun {
  url: DatabaseUrl;
  file: string;
  /** On the database as it is; otherwise into a new one that takes the destination's place. */
  asItIs: boolean;
  undo: boolean;
  /** As in a restore. */
  role?: string | undefined;
  events?: boolean | undefined;
  /** An empty folder for the tool's files. */
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
  /** `null` where the database did not answer. */
  identity: DatabaseIdentity | null;
}

export interface ProbeRequest {
  /** Databases that can share one connection (`connectionKey`), the most urgent first. */
  urls: DatabaseUrl[];
  /** Whether sizes are wanted, which take the server longer than the rest. */
  sizes: boolean;
  /** Called for each URL as soon as its state is known, and once more when its size is. */
  take: (index: number, probe: Probe) => void;
}

/** A database that a load into a destination replaces, renames or drops: itself, its undo copy, one in preparation. */
export interface AffectedDatabase {
  name: string;
  identity: DatabaseIdentity;
}

/** One kind of database: what to run and what it means. Where it runs is the runner's business. */
export interface Engine {
  id: EngineId;
  capabilities: Capabilities;
  connect: ConnectFacet;
  dump: DumpFacet;
  restore: RestoreFacet;
  sanitize: SanitizeFacet;
  subset: SubsetFacet;
}

/** In what engines differ. */
export interface Capabilities {
  /** Why a restore ends at its first error, where it cannot go on; `null` where it can. */
  whyNotKeepGoing: string | null;
  /** The vendor's program that makes every dump; `null` where the engine reads the database itself. */
  onlyProgram: string | null;
  /** Whether a script that fails on a database as it is has done nothing. */
  scriptsRollBack: boolean;
}

/** Servers and databases as they are: nothing here changes any. */
export interface ConnectFacet {
  parseUrl(text: string): DatabaseUrl;
  reportTools(context: EngineContext): Promise<ToolReport[]>;
  /** The live states of databases through one connection; failures are states, not errors. */
  probe(context: EngineContext, request: ProbeRequest): Promise<void>;
  /** The databases of the URL's server; which one the URL names does not matter. */
  listDatabases(context: EngineContext, url: DatabaseUrl): Promise<Sized[]>;
  /** The schemas of the database, where the engine has such. */
  listSchemas?(context: EngineContext, url: DatabaseUrl): Promise<Sized[]>;
  /** The tables of the database as the configuration names them: `schema.table`. */
  listTables(context: EngineContext, url: DatabaseUrl): Promise<Sized[]>;
  /** `127.0.0.1:5432`: every known spelling of the server that the URL leads to. Asks no database. */
  addressesOf(context: EngineContext, url: DatabaseUrl): Promise<Set<string>>;
  /** The database that the URL leads to, the same for all its spellings; `null` where only the server knows. */
  databaseOf(context: EngineContext, url: DatabaseUrl): string | null;
  /** The databases that exist of those that a load into the URL's database replaces, renames or drops. */
  identifyAffected(context: EngineContext, url: DatabaseUrl): Promise<AffectedDatabase[]>;
  /** Whether the URL's user may do anything on its server. */
  isSuperuser(context: EngineContext, url: DatabaseUrl): Promise<boolean>;
  /** The state of the database that a script would be run on. */
  inspect(context: EngineContext, url: DatabaseUrl): Promise<DestinationState>;
  /** The rows of every table of a database, by the names that the snapshot has for them; not every engine can tell. */
  countRows?(context: EngineContext, live: { url: DatabaseUrl; manifest: Manifest }): Promise<Map<string, number>>;
}

export interface DumpFacet {
  run(context: EngineContext, request: DumpRequest): Promise<DumpResult>;
}

export interface RestoreFacet {
  /** Which tables of a snapshot are not whole without which others, by its definitions alone. */
  readNeeds(context: EngineContext, request: DefinitionsRequest): Promise<NeededTable[]>;
  plan(context: EngineContext, request: RestoreRequest): Promise<RestorePlan>;
  run(context: EngineContext, run: RestoreRun): Promise<Replaced>;
  runScript(context: EngineContext, run: ScriptRun): Promise<Replaced>;
  /** The database that the last restore replaced; rejects when none is kept. */
  findKept(context: EngineContext, url: DatabaseUrl): Promise<Kept>;
  /** Swaps the destination with the database that is kept for it. */
  undo(context: EngineContext, url: DatabaseUrl): Promise<Replaced>;
}

/** What sanitizing asks of an engine. The database is always a fresh copy that nobody else uses. */
export interface SanitizeFacet {
  /** The statements of a query, in order; throws with the line of what cannot be understood or must not be run. */
  splitQuery(query: string): Statement[];
  /** Every column of the schemas, with samples of its values. */
  readColumns(context: EngineContext, request: ColumnsRequest): Promise<ColumnFacts[]>;
  /** Digests of columns by their name; those that are not there any more are left out. */
  digestColumns(context: EngineContext, url: DatabaseUrl, columns: ColumnFacts[]): Promise<Map<string, ColumnDigest>>;
  /** Runs the statements; an error names the one that failed. Step: `query`. */
  runQuery(context: EngineContext, run: QueryRun): Promise<void>;
  /** Takes the old values out of what the query does not see: views that are stored, statistics, dead rows. */
  removeTraces(context: EngineContext, traces: Traces): Promise<void>;
  /** A query that replaces the values of the columns, for a person to read and edit. */
  suggestQuery(context: EngineContext, request: SuggestionRequest): Promise<string>;
  /** Places for a database that the run makes and drops, the best first. */
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
  /** What was dumped from it. */
  dump: DumpResult;
  /** Names of the tables whose content the query has changed. */
  changed: string[];
}

export interface SuggestionRequest {
  url: DatabaseUrl;
  /** All there are. */
  columns: ColumnFacts[];
  suspects: SuspectColumn[];
}

export interface ScratchPlace {
  /** For people: `a server of our own`. */
  label: string;
  /** The database that a restore is to be pointed at; disposing leaves nothing of the place. */
  open(context: EngineContext, options?: PlaceOptions): Promise<OpenedPlace>;
}

export interface PlaceOptions {
  /** Works as the superuser of a server of our own, who reaches files and programs of this machine. */
  superuser?: boolean;
}

export interface OpenedPlace extends AsyncDisposable {
  url: DatabaseUrl;
  /** The superuser of a server of our own, where the user of `url` is none. */
  admin?: DatabaseUrl;
}

/** What an engine does for a subset; the rules are those of src/subset, for every engine. */
export interface SubsetFacet {
  /** Looks at a source, of which nothing is changed: all that is read of it is of one instant, until it is disposed. */
  openSource(context: EngineContext, request: { url: DatabaseUrl; jobs: number }): Promise<SubsetSource>;
  /** Refuses a destination beside which no new database can be made. */
  checkDestination(context: EngineContext, url: DatabaseUrl): Promise<void>;
  /** The statement that would make an index on these columns of the table. */
  createIndex(table: string, columns: string[]): string;
}

export interface SubsetSource extends AsyncDisposable {
  facts: SourceSchema;
  /** What a plan should say of the source. */
  warnings: { code: string; message: string }[];
  /** Rows of a share are chosen in the order of a hash that the seed changes. */
  finder(graph: Graph, seed: number): Promise<RowFinder>;
  /** The row with this primary key, its columns in order; `null` when there is none. */
  findRow(table: string, key: string[]): Promise<number | null>;
  /** The primary key of a row as text; where it lies when there is none. */
  nameRow(table: string, row: number): Promise<string>;
  /** Makes the subset in a new database that takes the destination's place. */
  make(context: EngineContext, run: SubsetRun): Promise<Made>;
}

export interface SubsetRun {
  url: DatabaseUrl;
  plan: Plan;
  collected: Collected;
  jobs: number;
  /** Keeps the database that is replaced. */
  undo: boolean;
  /** An empty folder for the tool's files. */
  directory: string;
}

export interface Made {
  replaced: Replaced;
  /** Rows by table. */
  rows: Map<string, number>;
  proof: ProofRow[];
}
