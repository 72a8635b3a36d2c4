import { EXIT, UserError } from '../../../errors.ts';
import type { RowSet } from '../../../subset/row-set.ts';
import type { Leaf, SubsetTable } from './catalogue.ts';

/**
 * A row's number says where it lies: which leaf of its table, which page, which line there. Within one snapshot that
 * is the row's identity, also where a table has no key; sorted, rows are read in the order of the disk.
 */
const LEAF_SPAN = 2 ** 41;
/** Lines of a page: a page of 8 kB has room for 291, and larger pages are rare. */
const PAGE_SPAN = 2 ** 9;
const MOST_LEAVES = 2 ** 53 / LEAF_SPAN;

/** How many rows a statement names; more would only make it longer. */
const BATCH_ROWS = 25_000;

/** `(12,5)` in a leaf. */
export function rowNumber({ index }: Leaf, ctid: string): number {
  const comma = ctid.indexOf(',');
  return index * LEAF_SPAN + Number(ctid.slice(1, comma)) * PAGE_SPAN + Number(ctid.slice(comma + 1, -1));
}

export interface Batch {
  leaf: Leaf;
  rows: number[];
}

/** The rows in their order, so many at once, each time of one leaf. */
export function* batchesOf(rows: RowSet, leaves: Leaf[]): Generator<Batch> {
  const byIndex = new Map(leaves.map((leaf) => [leaf.index, leaf]));
  let batch: number[] = [];
  let current = -1;
  for (const row of rows) {
    const index = Math.floor(row / LEAF_SPAN);
    const leaf = byIndex.get(current);
    if (leaf && batch.length > 0 && (index !== current || batch.length === BATCH_ROWS)) {
      yield { leaf, rows: batch };
      batch = [];
    }
    current = index;
    if (byIndex.has(index)) batch.push(row);
  }
  const leaf = byIndex.get(current);
  if (leaf && batch.length > 0) yield { leaf, rows: batch };
}

/** The condition that the row is one of these, by an array of places: it needs no table of keys, so that a replica will do. */
export function isOneOf({ rows }: Batch): string {
  const places = rows.map((row) => {
    const line = row % PAGE_SPAN;
    const page = Math.floor((row % LEAF_SPAN) / PAGE_SPAN);
    return `"(${page},${line})"`;
  });
  return `ctid = ANY ('{${places.join(',')}}'::tid[])`;
}

/** Refuses what row numbers cannot tell apart. */
export function refuseUnnumbered(tables: Iterable<SubsetTable>, pageBytes: number): void {
  const wide = [...tables].find(({ leaves }) => leaves.length > MOST_LEAVES);
  if (!wide && pageBytes <= 8192) return;
  throw new UserError(
    wide
      ? `${wide.name} has ${wide.leaves.length} partitions; a subset can be made of at most ${MOST_LEAVES}`
      : `The source's pages have ${pageBytes} bytes; a subset can be made of pages up to 8192`,
    {
      code: 'subset_unsupported',
      exit: EXIT.failed,
      hint: 'Take a whole snapshot: tool build',
    },
  );
}

/** Where the row lies. */
export function placeOf(row: number, leaves: Leaf[]): { leaf: Leaf; ctid: string } {
  const leaf = leaves[Math.floor(row / LEAF_SPAN)];
  if (!leaf) throw new Error('a row lies in no leaf of its table');
  return { leaf, ctid: `(${Math.floor((row % LEAF_SPAN) / PAGE_SPAN)},${row % PAGE_SPAN})` };
}
