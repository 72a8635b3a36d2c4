import type { ReferenceResult } from '../../results/subset-results.ts';
import type { CollectResult } from '../../subset/collect.ts';
import type { Graph } from '../../subset/graph.ts';
import type { Plan } from '../../subset/plan.ts';
import type { RowFinder } from '../../subset/row-finder.ts';
import type { SourceSchema } from '../../subset/source-schema.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { ReplaceResult, RestoringUser } from './restore.ts';

export interface SubsetFacet {
  /** Reads a source at one instant, and holds its locks until it is disposed; changes nothing. */
  openSource(cpus: number): Promise<SubsetSource>;
  /** Refuses a destination without the right to create a database. */
  checkDestination(): Promise<void>;
}

export interface SubsetSource extends AsyncDisposable {
  facts: SourceSchema;
  warnings: { code: string; message: string }[];
  /** Objects that only a superuser may create, and therefore no temporary user. */
  superuserObjects: string[];
  /** `seed`: another selection of a percentage. */
  finder(graph: Graph, seed: number): Promise<RowFinder>;
  /** By primary key, its columns in order; `null` when there is none. */
  findRow(table: string, key: string[]): Promise<number | null>;
  /** The statement that creates an index. */
  createIndex(table: string, columns: string[]): string;
  /** The primary key of a row as text; its location without one. */
  nameRow(table: string, row: number): Promise<string>;
  /**
   * Replaces the destination by the subset; a failure leaves the destination unchanged. A second call replaces it again.
   */
  make(run: SubsetRun): Promise<BuildSubsetResult>;
}

export interface SubsetRun {
  /** The destination. */
  url: DatabaseUrl;
  plan: Plan;
  collected: CollectResult;
  cpus: number;
  undo: boolean;
  directory: string;
  restoredBy: RestoringUser;
}

export interface BuildSubsetResult {
  replaced: ReplaceResult;
  rows: Map<string, number>;
  references: ReferenceResult[];
}
