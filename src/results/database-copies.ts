/** Copies of a destination as its last load left it. */
export interface DatabaseCopies {
  base: DatabaseCopy | null;
  spare: DatabaseCopy | null;
}

/** All databases of the server that were made for a destination, or from it. */
export interface DestinationCopies extends DatabaseCopies {
  branches: BranchTotals | null;
}

/** Totals of the branches that do not have the destination's name. */
export interface BranchTotals {
  count: number;
  size_bytes: number | null;
  /** Without blocks that they share with the base copy. */
  own_bytes: number | null;
}

export interface DatabaseCopy {
  database: string;
  /** The id of the snapshot; `null` when unknown. */
  snapshot: string | null;
  loaded_at: string;
  /** The load lacked rows or objects of the snapshot. */
  partial: boolean;
  size_bytes: number | null;
  /** Why it cannot be used; `null` where it can. */
  outdated: string | null;
}
