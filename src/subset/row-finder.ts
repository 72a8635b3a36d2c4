import type { Relationship, SubsetSettings } from './graph.ts';
import type { RowSet } from './row-set.ts';

export type RequestedTable = NonNullable<SubsetSettings['subset_tables']>[number];

/** Finds rows of a source in whole sets, at one instant; implemented by each engine. */
export interface RowFinder {
  /** The requested rows of a table: by condition, or by share in the order of a hash. */
  targets(target: RequestedTable, take: (row: number) => void): Promise<void>;
  referring(relationship: Relationship, rows: RowSet, take: (row: number) => void): Promise<void>;
  /** Rows that these, or all, reference. */
  referred(relationship: Relationship, rows: RowSet | 'all', take: (row: number) => void): Promise<void>;
  /** For each row with a non-null reference, the referenced row; `null` for a dangling reference. */
  references(
    relationship: Relationship,
    rows: RowSet,
    take: (row: number, referred: number | null) => void,
  ): Promise<void>;
}
