import { filesOfTable, type ManifestTable } from '../../repository/manifest/manifest.ts';
import type { Report } from '../../runtime/events.ts';

/** `isAll` after the last bytes of a table: its estimate then becomes what was read. */
export type OnBytes = (table: string, bytes: number, isAll?: boolean) => void;

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
  const expected = new Map(estimates);
  return (current, bytes, isAll = false) => {
    const before = expected.get(current) ?? 0;
    const own = (read.get(current) ?? 0) + bytes;
    const now = isAll ? own : Math.max(estimates.get(current) ?? 0, own);
    read.set(current, own);
    expected.set(current, now);
    done += bytes;
    total += now - before;
    const of_current = { done: own, total: now, bytes: own };
    report({ event: 'progress', step, done, total, unit: 'bytes', current, of_current });
  };
}

/** `endBytes` are those of a file after its rows, which nothing loads. */
export function restoreProgress(report: Report, tables: ManifestTable[], endBytes: number): OnBytes {
  const rowBytes = (table: ManifestTable): number =>
    filesOfTable(table).reduce((sum, { bytes }) => sum + Math.max(0, bytes - endBytes), 0);
  const estimates = new Map(tables.map((table) => [table.name, rowBytes(table)]));
  return bytesProgress(report, { step: 'restore', estimates });
}
