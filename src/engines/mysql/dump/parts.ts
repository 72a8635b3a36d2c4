import type { CatalogTable } from '../catalog/tables.ts';
import { asTable, quoteName, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';

/** A table larger than this is cut, so that several readers can share it. */
const PART_BYTES = 8 * 1024 * 1024;
const MOST_PARTS = 4000;
/** The previous cuts are kept while parts have between a quarter of the intended bytes and four times as many. */
const MOST_DEVIATION = 4;
const INTEGERS = new Set(['tinyint', 'smallint', 'mediumint', 'int', 'bigint']);

/** A range of the primary key as a condition; `null` for the whole table. */
export type Part = string | null;

/** No row: the server reads none to find that out. */
export const NO_ROWS: Part = 'FALSE';

export interface Parts {
  parts: Part[];
  /** Keys in a part; `null` for a whole table. */
  width: number | null;
}

const WHOLE: Parts = { parts: [null], width: null };

/**
 * Cuts a large table by the first column of its primary key, where that is a number. The cuts lie at multiples of a
 * power of two, so that a table which has grown since is cut at the same places and its older parts are the same files.
 * The width of the previous snapshot is kept while it fits, because the server only estimates the size of a table.
 */
export async function partsOf(
  session: MysqlSession,
  { database, table, previousWidth }: { database: string; table: CatalogTable; previousWidth: number | undefined },
): Promise<Parts> {
  const [first] = table.key;
  const column = table.columns.find(({ name }) => name === first);
  const wholeBytes = previousWidth === undefined ? PART_BYTES : PART_BYTES / MOST_DEVIATION;
  if (table.bytes <= wholeBytes || !column || !INTEGERS.has(column.type)) return WHOLE;
  const key = quoteName(column.name);
  const [range] = await session.query<{ low: number | string | null; high: number | string | null }>(
    `SELECT MIN(${key}) AS low, MAX(${key}) AS high FROM ${asTable(quotePath(database, table.name))}`,
  );
  const [low, high] = [Number(range?.low ?? 0), Number(range?.high ?? 0)];
  return cutParts({ key, low, high, bytes: table.bytes, previousWidth });
}

interface Cut {
  key: string;
  low: number;
  high: number;
  bytes: number;
  previousWidth?: number | undefined;
}

/** The first part has no beginning and the last no end: rows may have come since the two were asked for. */
export function cutParts({ key, low, high, bytes, previousWidth }: Cut): Parts {
  const wanted = Math.min(MOST_PARTS, bytes / PART_BYTES);
  const exact = (high - low + 1) / wanted;
  const keeps =
    previousWidth !== undefined &&
    Number.isInteger(Math.log2(previousWidth)) &&
    previousWidth >= exact / MOST_DEVIATION &&
    previousWidth <= exact * MOST_DEVIATION;
  const width = keeps ? previousWidth : 2 ** Math.ceil(Math.log2(exact));
  const bounds: number[] = [];
  for (let bound = (Math.floor(low / width) + 1) * width; bound <= high; bound += width) bounds.push(bound);
  if (bounds.length === 0 || !bounds.every(Number.isSafeInteger)) return WHOLE;
  const parts = [...bounds, null].map((end, at) => {
    const start = bounds[at - 1];
    const conditions = [
      ...(start === undefined ? [] : [`${key} >= ${start}`]),
      ...(end === null ? [] : [`${key} < ${end}`]),
    ];
    return conditions.join(' AND ');
  });
  return { parts, width };
}
