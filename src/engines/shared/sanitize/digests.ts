import { type ColumnDigest, type ColumnFacts, columnName } from '../../../sanitize/column-facts.ts';

/** By column: number of values (`v0`), digest (`d0`), surviving samples (`s0`). */
export type DigestRow = Record<string, number | string>;

/** Sums of hashes are independent of the row order, which an UPDATE changes. */
export function digestsIn(row: DigestRow | undefined, columns: ColumnFacts[]): [name: string, digest: ColumnDigest][] {
  return columns.map((column, index) => [
    columnName(column),
    {
      values: Number(row?.[`v${index}`]),
      digest: String(row?.[`d${index}`]),
      surviving: Number(row?.[`s${index}`]),
    },
  ]);
}
