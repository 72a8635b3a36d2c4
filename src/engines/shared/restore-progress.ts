import { bytesOfTable, type ManifestTable } from '../../repository/manifest.ts';
import type { Report } from '../../runtime/events.ts';

/** Reports the restored bytes of all tables and of the current one; a negative number takes some back. */
export function restoreProgress(report: Report, tables: ManifestTable[]): (table: string, bytes: number) => void {
  const sizes = new Map(tables.map((table) => [table.name, bytesOfTable(table)]));
  const read = new Map<string, number>();
  const total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
  let done = 0;
  return (current, bytes) => {
    done += bytes;
    const own = (read.get(current) ?? 0) + bytes;
    read.set(current, own);
    const of_current = { done: own, total: Math.max(own, sizes.get(current) ?? 0), bytes: own };
    report({ event: 'progress', step: 'restore', done, total, unit: 'bytes', current, of_current });
  };
}
