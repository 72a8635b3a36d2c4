import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { DestinationState } from '../../results/load-results.ts';
import type { NameWithSize, TargetRow } from '../../results/results.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { WithoutUrl } from '../engine-context.ts';
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

/** All methods read only, and can be called again. */
export interface ConnectFacet {
  /** The states of databases through one connection; failures are states, not errors. */
  probe(request: ProbeRequest): Promise<void>;
  listDatabases(): Promise<NameWithSize[]>;
  /** Empty where the engine has none. */
  listSchemas(): Promise<NameWithSize[]>;
  /** Named as in the configuration: `schema.table`. */
  listTables(): Promise<NameWithSize[]>;
  /** Every known address of the server, such as `127.0.0.1:5432`, found without a connection. */
  readAddresses(): Promise<Set<string>>;
  /** Empty where neither the destination nor a copy of it exists. */
  identifyAffected(): Promise<AffectedDatabase[]>;
  isSuperuser(): Promise<boolean>;
  /** The destination; one that does not exist is no error. */
  inspect(): Promise<DestinationState>;
  /** Rows of every table by its name in the snapshot. */
  countRows(manifest: Manifest): Promise<Map<string, number>>;
  readSmallTables(request: WithoutUrl<SmallTablesRequest>): Promise<SmallTable[]>;
  /** The first column of the first row of one SELECT, as text; `null` for NULL and for no row. */
  readValue(select: string): Promise<string | null>;
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
