import type { Manifest } from '../../repository/manifest.ts';
import type { ToolReport } from '../../results/configuration-results.ts';
import type { DestinationState } from '../../results/load-results.ts';
import type { NameWithSize, TargetRow } from '../../results/results.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { EngineContext } from '../engine-context.ts';
import type { DatabaseIdentity } from '../identity.ts';

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

export interface ConnectFacet {
  parseUrl(text: string): DatabaseUrl;
  reportTools(context: EngineContext): Promise<ToolReport[]>;
  /** The states of databases through one connection; failures are states, not errors. */
  probe(context: EngineContext, request: ProbeRequest): Promise<void>;
  listDatabases(context: EngineContext, url: DatabaseUrl): Promise<NameWithSize[]>;
  listSchemas?(context: EngineContext, url: DatabaseUrl): Promise<NameWithSize[]>;
  /** Named as in the configuration: `schema.table`. */
  listTables(context: EngineContext, url: DatabaseUrl): Promise<NameWithSize[]>;
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
  /** Present in every engine that has `countRows`. */
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
