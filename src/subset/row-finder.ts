import type { Relationship, SubsetSettings } from './graph.ts';
import type { RowSet } from './row-set.ts';

export type TargetSettings = NonNullable<SubsetSettings['subset_tables']>[number];

/** How rows of a source are found, always whole sets at once; an engine does it. All of it sees one instant. */
export interface RowFinder {
  /** The rows of a target by its condition, or by its share of the rows in the order of a hash. */
  targets(target: TargetSettings, take: (row: number) => void): Promise<void>;
  /** Rows that refer to one of these. */
  referring(relationship: Relationship, rows: RowSet, take: (row: number) => void): Promise<void>;
  /** Rows to which these, or all, refer. */
  referred(relationship: Relationship, rows: RowSet | 'all', take: (row: number) => void): Promise<void>;
  /** For each of these rows whose reference is not null, the row it refers to; `null` where there is none. */
  references(
    relationship: Relationship,
    rows: RowSet,
    take: (row: number, referred: number | null) => void,
  ): Promise<void>;
}
