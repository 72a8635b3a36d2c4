import type { ColumnDigest, ColumnFacts } from '../sanitize/column-facts.ts';
import type { Statement } from '../sanitize/statement.ts';
import type { SuspectColumn } from '../sanitize/suggestion.ts';
import type { Manifest } from '../snapshots/manifest.ts';
import type { DatabaseUrl, DumpResult, EngineContext } from './engine.ts';

/** What sanitizing asks of an engine. The database is always a fresh copy that nobody else uses. */
export interface Sanitizer {
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
