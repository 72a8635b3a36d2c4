import { bytesOfTable, type ManifestTable } from '../../repository/manifest/manifest.ts';
import type { Report } from '../../runtime/events.ts';

export type OnBytes = (table: string, bytes: number) => void;

/**
 * Reports bytes of all tables and of the current one. The estimate of a table grows when it is exceeded; a negative
 * number takes some bytes back.
 */
export function bytesProgress(
  report: Report,
  { step, estimates }: { step: 'dump' | 'restore'; estimates: ReadonlyMap<string, number> },
): OnBytes {
  const read = new Map<string, number>();
  let done = 0;
  let total = [...estimates.values()].reduce((sum, bytes) => sum + bytes, 0);
  return (current, bytes) => {
    const estimate = estimates.get(current) ?? 0;
    const before = read.get(current) ?? 0;
    const own = before + bytes;
    read.set(current, own);
    done += bytes;
    total += Math.max(estimate, own) - Math.max(estimate, before);
    const of_current = { done: own, total: Math.max(estimate, own), bytes: own };
    report({ event: 'progress', step, done, total, unit: 'bytes', current, of_current });
  };
}

export function restoreProgress(report: Report, tables: ManifestTable[]): OnBytes {
  const estimates = new Map(tables.map((table) => [table.name, bytesOfTable(table)]));
  return bytesProgress(report, { step: 'restore', estimates });
}
