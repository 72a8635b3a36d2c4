import type { ManifestTable } from '../../../../repository/manifest/manifest.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { DifferencePlan, EarlierSnapshot, RestoreRun } from '../../../facets/restore.ts';
import { type ComparedTables, compareTables, type EarlierTables } from '../../../shared/rows/compare-tables.ts';
import { type ArchiveDetails, archiveDetails } from '../../dump/archive.ts';
import { dataOf } from '../rows/copy-commands.ts';
import { storedRows } from '../rows/stored-rows.ts';
import { digestTable } from './contents.ts';

/** With indexes in place. Figures: test/bench/README.md. */
const MOST = { removed: 0.08, added: 0.16 };

export interface BaseTablesComparison extends Pick<RestoreRun, 'earlier' | 'read'> {
  planned: DifferencePlan;
  tables: ManifestTable[];
  details: ArchiveDetails;
}

export async function compareWithBase(
  context: Pick<EngineContext, 'signal'>,
  { planned, tables, details, earlier, read }: BaseTablesComparison,
): Promise<ComparedTables> {
  return compareTables(context, {
    ...{ planned, tables, read, rows: storedRows, most: MOST },
    async earlier() {
      const snapshot = planned.snapshot !== null ? await earlier?.(planned.snapshot) : null;
      return snapshot ? earlierTables(snapshot, details) : null;
    },
  });
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
