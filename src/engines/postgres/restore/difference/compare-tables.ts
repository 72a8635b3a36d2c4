import { bytesOfTable, type ManifestFile, type ManifestTable } from '../../../../repository/manifest/manifest.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { DifferencePlan, EarlierSnapshot, RestoreRun } from '../../../facets/restore.ts';
import { compareRows, type RowsDifference } from '../../../shared/compare-rows.ts';
import { pairsOf } from '../../../shared/stored-pairs.ts';
import { type ArchiveDetails, archiveDetails } from '../../dump/archive.ts';
import { dataOf } from '../rows/copy-commands.ts';
import { storedRows } from '../rows/stored-rows.ts';
import { digestTable } from './contents.ts';

/** Most memory of differing rows, of all tables together. */
const MOST_BYTES = 128 * 1024 * 1024;

/**
 * Shares of a table above which deleting and inserting rows, with indexes in place, takes longer than loading the table.
 * Figures: test/bench/README.md.
 */
const MOST_REMOVED = 0.08;
const MOST_ADDED = 0.16;

/** Rows of a table that only one of the two snapshots has. */
export interface TableDifference extends RowsDifference {
  table: ManifestTable;
}

export interface ComparedTables {
  differences: TableDifference[];
  /** Reasons for which tables that should be loaded by rows are loaded whole. */
  whole: Map<string, string>;
}

export interface TablesComparison extends Pick<RestoreRun, 'earlier' | 'read'> {
  planned: DifferencePlan;
  tables: ManifestTable[];
  details: ArchiveDetails;
}

/** Compares the rows of tables that are planned to be loaded by rows, from the objects of both snapshots alone. */
export async function compareTables(
  { signal }: Pick<EngineContext, 'signal'>,
  { planned, tables, details, earlier, read }: TablesComparison,
): Promise<ComparedTables> {
  const digests = new Map(planned.ways.flatMap(({ way, table, before }) => (way === 'rows' ? [[table, before]] : [])));
  const compared = tables.filter(({ name }) => digests.has(name));
  const snapshot = compared.length > 0 && planned.snapshot !== null ? await earlier?.(planned.snapshot) : null;
  const found = snapshot && earlierTables(snapshot, details);
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
    const rows = (side: RestoreRun['read']) => (file: ManifestFile) => storedRows(side, { table: table.name, file });
    const pairs = pairsOf({ table: before, rows: rows(found.read) }, { table, rows: rows(read) });
    const limits = { mostRemoved: MOST_REMOVED * bytes, mostAdded: MOST_ADDED * bytes, mostBytes: bytesLeft, signal };
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

/** The tables of the snapshot of a base copy. */
export interface EarlierTables {
  read: RestoreRun['read'];
  /** Returns `null` where the base copy has other content, by its digest. */
  find(table: ManifestTable, digest: string | undefined): ManifestTable | null;
}

export function earlierTables({ manifest, read }: EarlierSnapshot, details: ArchiveDetails): EarlierTables {
  const own = archiveDetails(manifest);
  const tables = new Map(manifest.tables.map((table) => [table.name, table]));
  return {
    read,
    find(table, digest) {
      const before = tables.get(table.name);
      if (!before || digestTable(before, own) !== digest) return null;
      const [old, now] = [dataOf(before, own).columns, dataOf(table, details).columns];
      return JSON.stringify(old) === JSON.stringify(now) ? before : null;
    },
  };
}
