import type { SchemaConfig } from '../../config/schema/settings.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { ColumnChoices, SuggestedQuery } from '../../results/review/suggested-query.ts';
import type { Markers } from '../../sanitize/canaries/canary-marks.ts';
import type { ColumnDigest, ColumnFacts } from '../../sanitize/column-facts.ts';
import type { PersonalKind } from '../../sanitize/detector/kinds.ts';
import type { CatalogContents } from '../../sanitize/ledger/ledger-item.ts';
import type { Statement } from '../../sanitize/statement.ts';
import type { SuspectColumn } from '../../sanitize/suggestion.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { EngineContext, WithoutUrl } from '../engine-context.ts';
import type { DumpResult } from './dump.ts';
import type { RestoreRun } from './restore.ts';

/** The database is always a new copy without other users, which a failure may leave in any state: it is dropped. */
export interface SanitizeFacet {
  /** Columns with stored rows, and the parts of their types. Reads the catalog only, also of a source. */
  readContents(schemaConfig: SchemaConfig | undefined): Promise<CatalogContents>;
  readColumns(manifest: Manifest): Promise<ColumnFacts[]>;
  /** By column name, without dropped columns. */
  digestColumns(columns: ColumnFacts[]): Promise<Map<string, ColumnDigest>>;
  /** Runs the statements. A failure names the statement; a second call runs all of them again. Step: `query`. */
  runQuery(run: WithoutUrl<QueryRun>): Promise<void>;
  /** Inserts synthetic persons; each table gets the values that its constraints allow. */
  insertCanaries(request: WithoutUrl<CanaryRequest>): Promise<InsertedCanaries>;
  /** Rewrites the changed tables, statistics and materialized views without remnants of old values. Can be repeated. */
  removeTraces(traces: WithoutUrl<Traces>): Promise<void>;
  suggestQuery(request: WithoutUrl<SuggestionRequest>): Promise<SuggestedQuery>;
  /** Computes and assigns the replacements for a few rows of each column, and rolls back. */
  tryReplacements(request: WithoutUrl<ReplacementTrial>): Promise<TriedReplacement[]>;
}

export interface ColumnsRequest {
  url: DatabaseUrl;
  manifest: Manifest;
}

export interface ObjectDefinitionsRequest {
  manifest: Manifest;
  read: RestoreRun['read'];
}

export interface StoredDefinition {
  /** `schema.object.(kind)`, as in a `-- keep:` comment. */
  name: string;
  text: string;
  /** `value`: the value of a sequence or counter; `none`: of the database as a whole, which no load creates. */
  creates?: 'value' | 'none';
}

export interface QueryRun {
  url: DatabaseUrl;
  manifest: Manifest;
  statements: Statement[];
}

export interface CanaryRequest {
  url: DatabaseUrl;
  columns: ColumnFacts[];
  /** Kinds of the suspicious columns, by `schema.table.column`. */
  kinds: Map<string, PersonalKind>;
  persons: number;
  markers: Markers;
}

export interface InsertedCanaries {
  /** Columns of the marks, by the id of the mark. */
  origins: Map<number, string>;
  tokens: Map<string, number>;
  /** Columns without a mark: constraints or types allow none. */
  unmarked: string[];
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
