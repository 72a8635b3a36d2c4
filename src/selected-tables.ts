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

/** Why a table comes along, for people. */
export function reasonOf({ needed_by, why }: NeededTable): string {
  return why === 'part' ? `a part of ${needed_by}` : `${needed_by} refers to it`;
}

const NAMES = 6;

/** `a, b and 20 more`. */
export function namesText(names: string[], most = NAMES): string {
  const told = names.length === most + 1 ? names : names.slice(0, most);
  const more = names.length - told.length;
  return `${told.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
