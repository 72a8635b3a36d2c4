import type { ManifestFile, ManifestTable } from '../../../../repository/manifest/manifest.ts';
import { release } from '../../../../repository/objects/release.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { EarlierSnapshot, RestoreRun, TableWay } from '../../../facets/restore.ts';
import { type ComparedTables, compareTables, type EarlierTables } from '../../../shared/rows/compare-tables.ts';
import { detailsOf } from '../../details.ts';
import { ROWS_TERMINATOR_BYTES } from '../../dump/row-text.ts';
import { digestRows } from './contents.ts';

/** The rows are replaced before the indexes are built. Figures: test/bench/README.md. */
const MOST = { removed: 0.25, added: 0.5 };

export interface BaseTablesComparison extends Pick<RestoreRun, 'read'> {
  earlier: RestoreRun['earlier'] | undefined;
  snapshot: string | null;
  ways: TableWay[];
  tables: ManifestTable[];
}

export async function compareWithBase(
  context: Pick<EngineContext, 'signal'>,
  { snapshot, ways, tables, earlier, read }: BaseTablesComparison,
): Promise<ComparedTables> {
  return compareTables(context, {
    ...{ planned: { snapshot, ways }, tables, read, rows: storedRows, most: MOST },
    async earlier() {
      const found = snapshot === null ? null : await earlier?.(snapshot);
      return found ? earlierTables(found) : null;
    },
  });
}

/** Columns are not compared: those of a base copy whose rows are replaced have the same definition. */
export function earlierTables({ manifest, read }: EarlierSnapshot): EarlierTables {
  const details = detailsOf(manifest);
  const tables = new Map(manifest.tables.map((table) => [table.name, table]));
  return {
    read,
    find(table, digest) {
      const before = tables.get(table.name);
      return before && digestRows(before, details) === digest ? before : null;
    },
  };
}

/** The reader owns each chunk. */
async function* storedRows(
  read: RestoreRun['read'],
  { file }: { file: ManifestFile },
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let left = file.bytes - ROWS_TERMINATOR_BYTES;
  for await (const frame of read(file)) {
    const rows = frame.subarray(0, Math.max(0, left));
    left -= rows.length;
    if (rows.length > 0) yield rows;
    else release(frame);
  }
}
