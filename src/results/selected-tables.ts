import { formatNumberOf } from '../text/format.ts';

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

/** Why tables come along, for people: `public.customer (public.orders refers to it)`. */
export function reasonsOf(needed: NeededTable[]): string[] {
  return needed.map(({ table, needed_by, why }) =>
    why === 'part' ? `${table} (a part of ${needed_by})` : `${table} (${needed_by} refers to it)`,
  );
}

/** How many are told where there is little room; a dry run tells all. */
const MOST = 6;

/** The first of them, and how many more there are. */
export function shortened(texts: string[]): string[] {
  const more = texts.length - MOST;
  return more > 1 ? [...texts.slice(0, MOST), `and ${more} more`] : texts;
}

const FEW = 3;

/** What a load of some tables leaves empty, in short. */
export function othersOf({ empty }: TableSelection): string {
  if (empty.length === 0) return 'none';
  return empty.length <= FEW ? empty.join(', ') : `the other ${formatNumberOf(empty.length, 'table')}`;
}
