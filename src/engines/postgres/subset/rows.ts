import { releaseChunk } from '../../../repository/objects/release.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { RowSet } from '../../../subset/row-set.ts';
import type { Leaf, SubsetTable } from './subset-catalog.ts';

/**
 * A row's number is its location: leaf, page, line. It identifies the row within one database snapshot, without a
 * key; sorted, rows are read in disk order.
 */
const LEAF_SPAN = 2 ** 41;
/** A page of 8 kB has at most 291 lines. */
const PAGE_SPAN = 2 ** 9;
const MOST_LEAVES = 2 ** 53 / LEAF_SPAN;

const BATCH_ROWS = 10_000;

export interface TupleId {
  page: number;
  line: number;
}

export function rowNumber({ index }: Leaf, { page, line }: TupleId): number {
  return index * LEAF_SPAN + page * PAGE_SPAN + line;
}

export interface Batch {
  leaf: Leaf;
  rows: number[];
}

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

/** An array, not a table of keys: works on a replica. */
export function isOneOf({ rows }: Batch): string {
  return `ctid = ANY ('{${writePlaces(rows)}}'::tid[])`;
}

export function assertRowNumbers(tables: Iterable<SubsetTable>, pageBytes: number): void {
  const wide = [...tables].find(({ leaves }) => leaves.length > MOST_LEAVES);
  if (!wide && pageBytes <= 8192) return;
  throw new UserError(
    'subset_unsupported',
    wide
      ? `${wide.name} has ${wide.leaves.length} partitions; a subset supports at most ${MOST_LEAVES}`
      : `The source's pages have ${pageBytes} bytes; a subset supports pages up to 8192`,
    { hint: 'Build a full snapshot: tool build' },
  );
}

export function placeOf(row: number, leaves: Leaf[]): { leaf: Leaf; ctid: string } {
  const leaf = leaves[Math.floor(row / LEAF_SPAN)];
  if (!leaf) throw new Error('a row lies in no leaf of its table');
  return { leaf, ctid: writePlaces([row]).slice(1, -1) };
}

const [QUOTE, OPEN, CLOSE, COMMA, ZERO] = [0x22, 0x28, 0x29, 0x2c, 0x30];
const MOST_PLACE_BYTES = 19;

/** Writes the places as bytes: a string for each row would burden the garbage collector. */
function writePlaces(rows: number[]): string {
  const bytes = Buffer.allocUnsafeSlow(rows.length * MOST_PLACE_BYTES);
  let end = 0;
  const writeNumber = (value: number): void => {
    let digits = 1;
    for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits += 1;
    end += digits;
    for (let at = end - 1, rest = value; digits > 0; digits -= 1, at -= 1, rest = Math.floor(rest / 10)) {
      bytes[at] = ZERO + (rest % 10);
    }
  };
  for (const row of rows) {
    if (end > 0) bytes[end++] = COMMA;
    bytes[end++] = QUOTE;
    bytes[end++] = OPEN;
    writeNumber(Math.floor((row % LEAF_SPAN) / PAGE_SPAN));
    bytes[end++] = COMMA;
    writeNumber(row % PAGE_SPAN);
    bytes[end++] = CLOSE;
    bytes[end++] = QUOTE;
  }
  const text = bytes.toString('latin1', 0, end);
  releaseChunk(bytes);
  return text;
}
