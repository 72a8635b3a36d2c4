import { nullWhere } from '../../shared/rows/null-references.ts';
import type { CatalogTable } from '../catalog/introspect.ts';
import { quoteName, quoteNumber, quotePath } from '../connection/quote.ts';

/** Blocks of a table from the first up to the one before `end`; `null` for what has no border there. */
export interface Range {
  start: number | null;
  end: number | null;
}

export const WHOLE: Range = { start: null, end: null };

/** Older servers read ranges of places only by reading the whole table. */
export const RANGES_SINCE = 14;
/** 8 MB, of which the rows have some 6 MB as text: what is read again after a change of one row. */
export const RANGE_BLOCKS = 1024;
export const BLOCK_BYTES = 8192;
/** A manifest names every range. */
const MOST_OF_TABLE = 1024;
const MOST_OF_ALL = 32 * 1024;

/**
 * Cuts the tables into ranges of blocks, so that several sessions share one. The width is a power of two which hardly
 * depends on the size: the ranges of a table that has grown are the same ones, and more.
 */
export function rangesOf(
  tables: CatalogTable[],
  { serverMajor, width = RANGE_BLOCKS }: { serverMajor: number; width?: number },
): Map<CatalogTable, Range[]> {
  const wholes = new Map(tables.map((table) => [table, [WHOLE]]));
  if (serverMajor < RANGES_SINCE) return wholes;
  const heaps = tables.filter(({ is_heap }) => is_heap);
  const count = (one: number): number =>
    heaps.reduce((sum, table) => sum + Math.ceil(table.blocks / widthOf(table, one)), 0);
  let least = width;
  while (least < 2 ** 31 && count(least) > MOST_OF_ALL + heaps.length) least *= 2;
  for (const table of heaps) wholes.set(table, cut(table.blocks, widthOf(table, least)));
  return wholes;
}

/** Blocks whose rows have much larger values elsewhere (TOAST) are fewer in a range. */
function widthOf({ blocks, bytes }: CatalogTable, width: number): number {
  const times = bytes / (blocks * BLOCK_BYTES || 1);
  const narrow = times < 2 ? width : Math.max(1, width / 2 ** Math.floor(Math.log2(times)));
  const wide = 2 ** Math.ceil(Math.log2(Math.max(1, blocks / MOST_OF_TABLE)));
  return Math.max(narrow, wide);
}

/** Rows may have come into blocks behind the last one, so the last range has no end. */
export function cut(blocks: number, width: number): Range[] {
  const count = Math.max(1, Math.ceil(blocks / width));
  return Array.from({ length: count }, (_, at) => ({
    start: at === 0 ? null : at * width,
    end: at === count - 1 ? null : (at + 1) * width,
  }));
}

export function fileName({ oid }: CatalogTable, part: number): string {
  return part === 0 ? `${oid}.rows` : `${oid}-${String(part + 1).padStart(4, '0')}.rows`;
}

/** A range in the order of its places, which an index or a sequential scan with others would not keep. */
export function copyOut({ schema, name, columns, nulled }: CatalogTable, { start, end }: Range): string {
  const table = quotePath(schema, name);
  const list = columns.map((column) => nullWhere(nulled?.get(column), quoteName(column))).join(', ');
  if (start === null && end === null && !nulled) return `COPY ${table}${list === '' ? '' : ` (${list})`} TO STDOUT`;
  return `COPY (SELECT ${list} FROM ONLY ${table}${conditionOf({ start, end })}) TO STDOUT`;
}

export function conditionOf({ start, end }: Range): string {
  const conditions = [
    ...(start === null ? [] : [`ctid >= '(${quoteNumber(start)},0)'::tid`]),
    ...(end === null ? [] : [`ctid < '(${quoteNumber(end)},0)'::tid`]),
  ];
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}
