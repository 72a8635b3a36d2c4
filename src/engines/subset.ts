import type { ProofRow } from '../results.ts';
import type { Collected } from '../subset/collect.ts';
import type { Facts } from '../subset/facts.ts';
import type { Graph } from '../subset/graph.ts';
import type { Plan } from '../subset/plan.ts';
import type { RowFinder } from '../subset/row-finder.ts';
import type { DatabaseUrl, EngineContext, Replaced } from './engine.ts';

/** What an engine does for a subset; the rules are those of src/subset, for every engine. */
export interface SubsetEngine {
  /** Looks at a source, of which nothing is changed: all that is read of it is of one instant, until it is disposed. */
  openSource(context: EngineContext, request: { url: DatabaseUrl; jobs: number }): Promise<SubsetSource>;
  /** Refuses a destination beside which no new database can be made. */
  checkDestination(context: EngineContext, url: DatabaseUrl): Promise<void>;
  /** The statement that would make an index on these columns of the table. */
  createIndex(table: string, columns: string[]): string;
}

export interface SubsetSource extends AsyncDisposable {
  facts: Facts;
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
