import type { Report } from '../../runtime/events.ts';

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
