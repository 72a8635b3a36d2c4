import type { Manifest } from '../../repository/manifest.ts';
import type { ColumnChoices, SuggestedQuery } from '../../results/suggested-query.ts';
import type { ColumnDigest, ColumnFacts } from '../../sanitize/column-facts.ts';
import type { Statement } from '../../sanitize/statement.ts';
import type { SuspectColumn } from '../../sanitize/suggestion.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { EngineContext } from '../engine-context.ts';
import type { DumpResult } from './dump.ts';
import type { RestoreRun } from './restore.ts';

/** The database is always a new copy without other users. */
export interface SanitizeFacet {
  /** Throws with the line of a statement that is not understood or not allowed. */
  splitQuery(query: string): Statement[];
  readColumns(context: EngineContext, request: ColumnsRequest): Promise<ColumnFacts[]>;
  /** By column name, without dropped columns. */
  digestColumns(context: EngineContext, url: DatabaseUrl, columns: ColumnFacts[]): Promise<Map<string, ColumnDigest>>;
  /** The statements that create what is in a snapshot. */
  readDefinitions(context: EngineContext, request: DefinitionsRequest): Promise<StoredDefinition[]>;
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

export interface DefinitionsRequest {
  manifest: Manifest;
  read: RestoreRun['read'];
}

export interface StoredDefinition {
  /** `schema.object.(kind)`, as in a `-- keep:` comment. */
  name: string;
  text: string;
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
  /** Rows with a value to try for each column. */
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
  /** The server that it is on; `null` for one of its own, which starts when it is opened. */
  server: DatabaseUrl | null;
  /** The database to restore into; disposing removes the whole place. */
  open(context: EngineContext, options?: PlaceOptions): Promise<OpenedPlace>;
}

export interface PlaceOptions {
  superuser?: boolean;
}

export interface OpenedPlace extends AsyncDisposable {
  url: DatabaseUrl;
}
