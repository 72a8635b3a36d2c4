import { filesOfTable, type ManifestTable } from '../../repository/manifest/manifest.ts';
import type { Report } from '../../runtime/events.ts';

/** `isAll` after the last bytes of a table. */
export type OnBytes = (table: string, bytes: number, isAll?: boolean) => void;

interface ByteEstimates {
  step: 'dump' | 'restore';
  /** Bytes of each table. */
  estimates: ReadonlyMap<string, number>;
}

/**
 * Reports bytes of all tables and of the current one; a negative number takes some bytes back. Sizes on disk and as text
 * differ, so the tables that are finished correct the estimate for the rest.
 */
export function bytesProgress(report: Report, { step, estimates }: ByteEstimates): OnBytes {
  const read = new Map<string, number>();
  const unfinished = new Map(estimates);
  const finished = { read: 0, expected: 0 };
  let done = 0;
  let rest = [...estimates.values()].reduce((sum, bytes) => sum + bytes, 0);
  return (current, bytes, isAll = false) => {
    const own = (read.get(current) ?? 0) + bytes;
    const expected = unfinished.get(current) ?? 0;
    read.set(current, own);
    done += bytes;
    if (isAll) {
      unfinished.delete(current);
      rest -= expected;
      finished.read += own;
      finished.expected += expected;
    }
    const ratio = finished.expected > 0 ? finished.read / finished.expected : 1;
    const total = Math.max(done, Math.round(finished.read + rest * ratio));
    const of_current = { done: own, total: isAll ? own : Math.max(own, expected), bytes: own };
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

export interface CopiedAmount {
  rows: number;
  bytes: number;
}

/** Reports rows and bytes of all tables and of the current one. An `expected` estimate grows when it is exceeded. */
export function copyProgress(
  report: Report,
  expected: ReadonlyMap<string, number>,
): (table: string, moved: CopiedAmount) => void {
  const byTable = new Map([...expected.keys()].map((table): [string, CopiedAmount] => [table, { rows: 0, bytes: 0 }]));
  const all: CopiedAmount = { rows: 0, bytes: 0 };
  let total = [...expected.values()].reduce((sum, rows) => sum + rows, 0);
  return (table, { rows, bytes }) => {
    const one = byTable.get(table) ?? { rows: 0, bytes: 0 };
    byTable.set(table, one);
    for (const counted of [all, one]) {
      counted.rows += rows;
      counted.bytes += bytes;
    }
    total = Math.max(total, all.rows);
    report({
      event: 'progress',
      step: 'copy',
      done: all.rows,
      total,
      unit: 'rows',
      bytes: all.bytes,
      current: table,
      of_current: { done: one.rows, total: Math.max(expected.get(table) ?? 0, one.rows), bytes: one.bytes },
    });
  };
}
