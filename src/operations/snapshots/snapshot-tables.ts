import { bytesOfTable } from '../../repository/manifest/manifest.ts';
import type { SnapshotTable } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { findSnapshot, type SnapshotRequest } from './snapshots.ts';

/** Returns the tables of a snapshot, the largest first, from its manifest alone. */
export async function listTables(context: Context, request: SnapshotRequest): Promise<SnapshotTable[]> {
  const { manifest } = await findSnapshot(context, request);
  const tables = manifest.tables.map((table) => ({ table: table.name, rows: table.rows, bytes: bytesOfTable(table) }));
  return tables.sort((a, b) => b.bytes - a.bytes || (a.table < b.table ? -1 : 1));
}
