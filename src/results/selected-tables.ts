/** A load of some tables: what was asked for, what comes along, and what is made without its rows. */
export interface TableSelection {
  chosen: string[];
  needed: NeededTable[];
  empty: string[];
}

/** A table that another one is not whole without. */
export interface NeededTable {
  table: string;
  needed_by: string;
  /** `reference`: `needed_by` refers to it; `part`: it is a partition of `needed_by`, or inherits from it. */
  why: 'reference' | 'part';
}
