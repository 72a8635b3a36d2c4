import type { RowSet } from '../../../subset/row-set.ts';
import { quoteText } from '../connection/session.ts';
import type { KeyPart } from './keys.ts';

/** Sets hold numbers: of a table whose key is one whole number that number, of others the place in a list of the keys seen. */
export interface RowNumbers {
  numberOf(key: string[]): number;
  keyOf(row: number): string[];
}

/** Whole numbers up to here, and as many below zero, stand for themselves. */
const LISTED = 2 ** 52;
const SEPARATOR = ',';

export function createRowNumbers(isInteger: boolean): RowNumbers {
  const numbers = new Map<string, number>();
  const keys: string[] = [];
  return {
    numberOf(key) {
      const text = key.join(SEPARATOR);
      if (isInteger) {
        const value = Number(text);
        if (Math.abs(value) < LISTED / 2) return value >= 0 ? 2 * value : -2 * value - 1;
      }
      const known = numbers.get(text);
      if (known !== undefined) return known;
      const number = LISTED + keys.push(text) - 1;
      numbers.set(text, number);
      return number;
    },
    keyOf(row) {
      if (row < LISTED) return [String(row % 2 === 0 ? row / 2 : -(row + 1) / 2)];
      const text = keys[row - LISTED];
      if (text === undefined) throw new Error('a row has no key');
      return text.split(SEPARATOR);
    },
  };
}

/** A statement names at most so many rows, by so many characters: servers limit its length. */
const BATCH_ROWS = 20_000;
const BATCH_CHARACTERS = 1024 * 1024;

/** The keys of the rows in their order, so many at once. */
export function* batchesOf(rows: RowSet, { keyOf }: RowNumbers, most: number = BATCH_ROWS): Generator<string[][]> {
  let batch: string[][] = [];
  let characters = 0;
  for (const row of rows) {
    const key = keyOf(row);
    batch.push(key);
    for (const part of key) characters += part.length;
    if (batch.length < Math.min(most, BATCH_ROWS) && characters < BATCH_CHARACTERS) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

/** The keys as a table `k` of the statement itself, which needs no right to make one. */
export function keyTable(parts: KeyPart[], keys: string[][]): string {
  const [only] = parts;
  if (only && parts.length === 1) {
    const values = keys.map(([value]) => `"${value}"`).join(',');
    return `JSON_TABLE(${quoteText(`[${values}]`)}, '$[*]' COLUMNS (c0 ${only.type} PATH '$')) k`;
  }
  const columns = parts.map(({ type }, index) => `c${index} ${type} PATH '$[${index}]'`);
  return `JSON_TABLE(${quoteText(JSON.stringify(keys))}, '$[*]' COLUMNS (${columns.join(', ')})) k`;
}

/** That the row with this alias is the one of the table of keys. */
export function isKey(parts: KeyPart[], alias: string): string {
  return parts.map((part, index) => part.is(alias, `k.c${index}`)).join(' AND ');
}

/**
 * MariaDB has to be told to join by a hash: without one it compares every row with every key where no index serves, and
 * with one it reads the whole table where an index would do. MySQL knows by itself.
 * https://mariadb.com/kb/en/block-based-join-algorithms/
 */
export function joinedBy(how: 'index' | 'hash', select: string): string {
  return how === 'index' ? select : `/*M!100600 SET STATEMENT join_cache_level = 4 FOR */ ${select}`;
}
