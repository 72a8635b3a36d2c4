import type { Report } from '../../runtime/events.ts';

/** Rows that went over, and their bytes as they travelled. */
export interface Moved {
  rows: number;
  bytes: number;
}

/**
 * Tells how many rows and bytes were copied, of all tables and of the one that they belong to. Where whole tables are
 * copied `expected` is an estimate, which the total follows when it is overtaken.
 */
export function copyProgress(
  report: Report,
  expected: ReadonlyMap<string, number>,
): (table: string, moved: Moved) => void {
  const byTable = new Map([...expected.keys()].map((table): [string, Moved] => [table, { rows: 0, bytes: 0 }]));
  const all: Moved = { rows: 0, bytes: 0 };
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
