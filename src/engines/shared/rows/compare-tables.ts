import { bytesOfTable, type ManifestFile, type ManifestTable } from '../../../repository/manifest/manifest.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { DifferencePlan, RestoreRun } from '../../facets/restore.ts';
import { compareRows, type RowChunks, type RowsDifference } from './compare-rows.ts';
import { pairsOf } from './stored-pairs.ts';

/** Most memory of differing rows, of all tables together. */
const MOST_BYTES = 128 * 1024 * 1024;

/** Rows of a table that only one of the two snapshots has. */
export interface TableDifference extends RowsDifference {
  table: ManifestTable;
}

export interface ComparedTables {
  differences: TableDifference[];
  /** Reasons for which tables that should be loaded by rows are loaded whole. */
  whole: Map<string, string>;
}

/** The tables of the snapshot of a base copy. */
export interface EarlierTables {
  read: RestoreRun['read'];
  /** Returns `null` where the base copy has other content, by its digest. */
  find(table: ManifestTable, digest: string | undefined): ManifestTable | null;
}

export interface TablesComparison extends Pick<RestoreRun, 'read'> {
  planned: Pick<DifferencePlan, 'snapshot' | 'ways'>;
  tables: ManifestTable[];
  /** Resolves with `null` where this machine no longer has the snapshot of the base copy. */
  earlier: () => Promise<EarlierTables | null>;
  /** The rows of a file of a table, without its terminator. */
  rows: (read: RestoreRun['read'], part: { table: string; file: ManifestFile }) => RowChunks;
  /** Shares of a table's bytes above which loading it is faster than deleting and inserting rows. */
  most: { removed: number; added: number };
}

/** Compares the rows of tables that are planned to be loaded by rows, from the objects of both snapshots alone. */
export async function compareTables(
  { signal }: Pick<EngineContext, 'signal'>,
  { planned, tables, earlier, read, rows, most }: TablesComparison,
): Promise<ComparedTables> {
  const digests = new Map(planned.ways.flatMap(({ way, table, before }) => (way === 'rows' ? [[table, before]] : [])));
  const compared = tables.filter(({ name }) => digests.has(name));
  const found = compared.length > 0 ? await earlier() : null;
  const differences: TableDifference[] = [];
  const whole = new Map<string, string>();
  let bytesLeft = MOST_BYTES;
  for (const table of compared) {
    const before = found?.find(table, digests.get(table.name));
    if (!found || !before) {
      whole.set(table.name, `snapshot ${planned.snapshot} is no longer on this machine`);
      continue;
    }
    const bytes = bytesOfTable(table);
    const rowsOf = (side: RestoreRun['read']) => (file: ManifestFile) => rows(side, { table: table.name, file });
    const pairs = pairsOf({ table: before, rows: rowsOf(found.read) }, { table, rows: rowsOf(read) });
    const limits = { mostRemoved: most.removed * bytes, mostAdded: most.added * bytes, mostBytes: bytesLeft, signal };
    const difference = await compareRows(pairs, limits).catch((error) => {
      signal.throwIfAborted();
      // Objects that only the earlier snapshot has are not needed to load the table whole.
      return `its rows cannot be compared: ${error instanceof Error ? error.message : error}`;
    });
    if (typeof difference === 'string') {
      whole.set(table.name, difference);
    } else {
      differences.push({ table, ...difference });
      bytesLeft -= difference.bytes;
    }
  }
  return { differences, whole };
}
