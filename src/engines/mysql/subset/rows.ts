import type { RowSet } from '../../../subset/row-set.ts';
import { quoteText } from '../connection/quote.ts';
import type { KeyPart } from './keys.ts';

/** Row sets contain numbers: an integer key itself, or the position of any other key in a list of known keys. */
export interface RowNumbers {
  isInteger: boolean;
  numberOf(key: string[] | number): number;
  keyOf(row: number): string[];
  jsonOf(row: number): string;
}

/** Integers below this, positive and negative, stand for themselves. */
const LISTED = 2 ** 52;
const SEPARATOR = ',';

export function createRowNumbers(isInteger: boolean): RowNumbers {
  const numbers = new Map<string, number>();
  const keys: string[] = [];
  const integerOf = (row: number): number => (row % 2 === 0 ? row / 2 : -(row + 1) / 2);
  const textOf = (row: number): string => {
    const text = keys[row - LISTED];
    if (text === undefined) throw new Error('a row has no key');
    return text;
  };
  return {
    isInteger,
    numberOf(key) {
      const text = typeof key === 'number' ? '' : key.join(SEPARATOR);
      if (isInteger) {
        const value = typeof key === 'number' ? key : Number(text);
        if (Math.abs(value) < LISTED / 2) return value >= 0 ? 2 * value : -2 * value - 1;
      }
      const known = numbers.get(text);
      if (known !== undefined) return known;
      const number = LISTED + keys.push(text) - 1;
      numbers.set(text, number);
      return number;
    },
    keyOf(row) {
      return row < LISTED ? [String(integerOf(row))] : textOf(row).split(SEPARATOR);
    },
    jsonOf(row) {
      if (row < LISTED) return String(integerOf(row));
      const text = textOf(row);
      return text.includes(SEPARATOR) ? JSON.stringify(text.split(SEPARATOR)) : `"${text}"`;
    },
  };
}

/** Limits of a statement: servers bound its length. */
const BATCH_ROWS = 10_000;
const BATCH_CHARACTERS = 1024 * 1024;

export function* batchesOf(rows: RowSet, { jsonOf }: RowNumbers, most: number = BATCH_ROWS): Generator<string[]> {
  let batch: string[] = [];
  let characters = 0;
  for (const row of rows) {
    const key = jsonOf(row);
    batch.push(key);
    characters += key.length;
    if (batch.length < Math.min(most, BATCH_ROWS) && characters < BATCH_CHARACTERS) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

/** The keys as a derived table `k`: a temporary table would need a right. */
export function keyTable(parts: KeyPart[], keys: string[]): string {
  const columns = parts.map(
    ({ type }, index) => `c${index} ${type} PATH '${parts.length === 1 ? '$' : `$[${index}]`}'`,
  );
  return `JSON_TABLE(${quoteText(`[${keys.join(',')}]`)}, '$[*]' COLUMNS (${columns.join(', ')})) k`;
}

export function isKey(parts: KeyPart[], alias: string): string {
  return parts.map((part, index) => part.is(alias, `k.c${index}`)).join(' AND ');
}

/**
 * MariaDB uses a hash join only when told: without it, it compares every row with every key where no index serves;
 * with it, it scans the table where an index would do. MySQL decides itself.
 * https://mariadb.com/kb/en/block-based-join-algorithms/
 */
export function joinedBy(how: 'index' | 'hash', select: string): string {
  return how === 'index' ? select : `/*M!100600 SET STATEMENT join_cache_level = 4 FOR */ ${select}`;
}
