/** Copies of a destination as its last load left it. */
export interface DatabaseCopies {
  base: DatabaseCopy | null;
  spare: DatabaseCopy | null;
}

export interface DatabaseCopy {
  database: string;
  /** The id of the snapshot; `null` when unknown. */
  snapshot: string | null;
  loaded_at: string;
  /** Whether the load lacked rows or objects of the snapshot. */
  partial: boolean;
  size_bytes: number | null;
  /** Why it cannot be used; `null` where it can. */
  outdated: string | null;
}
