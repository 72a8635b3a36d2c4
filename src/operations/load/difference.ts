import type { RestorePlan, TableWay } from '../../engines/facets/restore.ts';
import {
  contentBytes,
  filesOfTable,
  type Manifest,
  type ManifestFile,
  type ManifestTable,
} from '../../repository/manifest/manifest.ts';
import type { LoadDifference } from '../../results/load-results.ts';

/** Returns the tables that a load takes from the snapshot and from the base copy; absent where there is none. */
export function loadDifference({ difference, tables }: RestorePlan, manifest: Manifest): LoadDifference | undefined {
  if (!difference) return undefined;
  const loaded = tablesToRead({ difference, tables });
  const all = contentBytes(manifest, tables);
  const size_bytes = difference.tables ? difference.ways.reduce((sum, { bytes }) => sum + bytes, 0) : all;
  return {
    method: difference.tables ? 'difference' : 'full',
    reason: difference.reason,
    base: difference.base,
    base_snapshot: difference.snapshot,
    tables: loaded.length,
    size_bytes,
    saved_tables: tables.length - loaded.length,
    saved_bytes: all - size_bytes,
    ...(difference.ways.length > 0 && { by_table: byTable(difference.ways) }),
  };
}

const MOST_TABLES = 100;

/** The tables of a plan, or of a result, where each was loaded as it says. */
export function byTable(ways: TableWay[]): NonNullable<LoadDifference['by_table']> {
  const largest = ways.toSorted((a, b) => b.bytes - a.bytes).slice(0, MOST_TABLES);
  return largest.map(({ table, way, reason, bytes, changed }) => ({
    ...{ table, method: way, reason, size_bytes: bytes },
    ...changed,
  }));
}

export function filesToRead(restore: RestorePlan, { files }: Manifest): ManifestFile[] {
  const { difference } = restore;
  const others = difference?.files ? files.filter(({ name }) => difference.files?.includes(name)) : files;
  return [...tablesToRead(restore).flatMap(filesOfTable), ...others];
}

function tablesToRead({ difference, tables }: Pick<RestorePlan, 'difference' | 'tables'>): ManifestTable[] {
  if (!difference?.tables) return tables;
  const names = new Set(difference.tables);
  return tables.filter(({ name }) => names.has(name));
}
