import { tableName } from '../../../../text/table-names.ts';
import type { RestorePlan } from '../../../facets/restore.ts';
import { expectedRows } from '../../../shared/verify.ts';
import { quotePath } from '../../connection/quote.ts';
import type { ArchiveDetails } from '../../dump/archive.ts';

/** Rows that are counted together after a restore. */
export interface CountedRows {
  /** For people. */
  name: string;
  /** The query that counts them. */
  count: string;
  rows: number;
  words: string;
}

/**
 * Returns the rows that each table must have; partitions that are loaded through their root are counted there, since
 * their rows may lie in others than in the source. Without the tables of extensions, which may have put rows of their
 * own there.
 */
export function countedRows(plan: Pick<RestorePlan, 'tables' | 'empty'>, { data }: ArchiveDetails): CountedRows[] {
  const counted = new Map<string, CountedRows>();
  for (const { table, rows, words } of expectedRows(plan)) {
    const found = data[table.file.name];
    if (!found || found.of_extension) continue;
    const { root } = found;
    const from = root ? quotePath(root.schema, root.table) : `ONLY ${quotePath(found.schema, found.table)}`;
    const total = (counted.get(from)?.rows ?? 0) + rows;
    const name = root ? tableName(root.schema, root.table) : table.name;
    const count = `SELECT count(*) AS rows FROM ${from}`;
    counted.set(from, { name, count, rows: total, words: root ? `${total} in the manifest` : words });
  }
  return [...counted.values()];
}
