import type { MysqlSession } from '../connection/session.ts';
import type { CatalogTable } from '../introspect.ts';
import { quoteName, quotePath } from '../quote.ts';

/** A table larger than this is cut, so that several readers can share it. */
const PART_BYTES = 8 * 1024 * 1024;
const MOST_PARTS = 4000;
const INTEGERS = new Set(['tinyint', 'smallint', 'mediumint', 'int', 'bigint']);

/** A range of the primary key as a condition; `null` for the whole table. */
export type Part = string | null;

/**
 * Cuts a large table by the first column of its primary key, where that is a number. The cuts lie at multiples of a
 * power of two, so that a table which has grown since is cut at the same places and its older parts are the same files.
 */
export async function partsOf(
  session: MysqlSession,
  { database, table }: { database: string; table: CatalogTable },
): Promise<Part[]> {
  const [first] = table.key;
  const column = table.columns.find(({ name }) => name === first);
  if (table.bytes <= PART_BYTES || !column || !INTEGERS.has(column.type)) return [null];
  const key = quoteName(column.name);
  const [range] = await session.query<{ low: number | string | null; high: number | string | null }>(
    `SELECT MIN(${key}) AS low, MAX(${key}) AS high FROM ${quotePath(database, table.name)}`,
  );
  return cut({ key, low: Number(range?.low ?? 0), high: Number(range?.high ?? 0), bytes: table.bytes });
}

interface Cut {
  key: string;
  low: number;
  high: number;
  bytes: number;
}

/** The first part has no beginning and the last no end: rows may have come since the two were asked for. */
export function cut({ key, low, high, bytes }: Cut): Part[] {
  const wanted = Math.min(MOST_PARTS, bytes / PART_BYTES);
  const width = 2 ** Math.ceil(Math.log2((high - low + 1) / wanted));
  const bounds: number[] = [];
  for (let bound = (Math.floor(low / width) + 1) * width; bound <= high; bound += width) bounds.push(bound);
  if (bounds.length === 0 || !bounds.every(Number.isSafeInteger)) return [null];
  return [...bounds, null].map((end, at) => {
    const start = bounds[at - 1];
    const conditions = [
      ...(start === undefined ? [] : [`${key} >= ${start}`]),
      ...(end === null ? [] : [`${key} < ${end}`]),
    ];
    return conditions.join(' AND ');
  });
}
