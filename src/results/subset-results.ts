import type { DestinationState, RestoredBy } from './load-results.ts';
import type { SnapshotRow } from './results.ts';

// What subsets hand back, as results.ts has it for the other operations.

/** Plan of a subset: printed by `--dry-run`, shown by the screens before the confirmation. */
export interface SubsetPlanResult extends RestoredBy {
  target: string;
  source: string;
  /** The data is sanitized; `null` where it cannot be known, as for an SQL file. */
  sanitized: boolean | null;
  /** Why it is, why it is not, or why it cannot be known. */
  sanitized_reason: string;
  destination: DestinationState;
  seed: number;
  /** The replaced database is kept for `tool undo`. */
  undo: boolean;
  tables: SubsetTableRow[];
  /** Targets of which the source could not be compared with the destination. */
  unverified_sources: string[];
  /** Circles among references; they need no configuration. */
  circles: string[][];
  warnings: { code: string; message: string }[];
}

export interface SubsetTableRow {
  table: string;
  /** By which its rows come: `empty` when nothing leads to it. */
  rule: 'target' | 'child' | 'parent' | 'copy' | 'excluded' | 'empty';
  /** In the source, an estimate where the server has one; in the subset, `null` when they were not looked for, as only a dry run does. */
  rows_now: number;
  rows_expected: number | null;
  /** On the disk of the source, without indexes; those expected are estimated by the number of rows. */
  bytes_now: number;
  bytes_expected: number | null;
  /** The tables by which they come: `["product", "←", "order_item", "→", "orders"]`; arrows point to what is referred to. */
  path: string[];
  /** Columns that become null, since what they refer to does not come along. */
  nulled: string[];
}

/** The tables of the source and their references, for a diagram. */
export interface SubsetGraph {
  target: string;
  /** By name. */
  tables: { table: string; rule: SubsetTableRow['rule']; rows: number }[];
  /** By names; several constraints between two tables are one reference with several constraints. */
  references: SubsetReference[];
}

export interface SubsetReference {
  /** The table with the foreign key, and the referenced one. */
  from: string;
  to: string;
  /** Constraints, or `added_relationships`. */
  names: string[];
  /** Rows come by this reference. */
  chosen: boolean;
  /** Part of a circle of references. */
  circular: boolean;
  /** Excluded by the configuration: its columns become null. */
  excluded: boolean;
}

export interface SubsetGraphResult {
  target: string;
  /** Absolute. */
  file: string;
  format: 'mermaid';
  tables: number;
  references: number;
}

export interface SubsetResult {
  target: string;
  destination: string;
  seed: number;
  tables: { table: string; rows: number }[];
  rows: number;
  /** Every reference, and how many rows of the subset refer to none. */
  proof: ProofRow[];
  swap_ms: number | null;
  undo_database: string | null;
  /** The subset as a snapshot, when one was asked for. */
  snapshot: SnapshotRow | null;
}

export interface ProofRow {
  /** Name of the constraint. */
  reference: string;
  from: string;
  columns: string[];
  to: string;
  ref_columns: string[];
  /** The configuration adds it. */
  added: boolean;
  orphans: number;
  /** Orphans that refer to no row in the source either, where no constraint in force forbids it. */
  orphans_in_source: number;
}

/** Why a row is in a subset, from itself to a row that was asked for. */
export interface SubsetExplanation {
  target: string;
  row: { table: string; key: string };
  /** `null` when the row is not in the subset. */
  chain: { table: string; key: string; why: string }[] | null;
}
