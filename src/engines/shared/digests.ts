import { type ColumnDigest, type ColumnFacts, columnName } from '../../sanitize/column-facts.ts';

/** A row with the number of values (`v0`), their digest (`d0`) and the samples that are left (`s0`) of each column. */
export type DigestRow = Record<string, number | string>;

/** Sums of hashes do not depend on the order of the rows, which a change of any column disturbs. */
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
