import type { Report } from '../../../runtime/events.ts';
import type { CatalogTable } from '../catalog/tables.ts';

export interface DumpProgress {
  onBytes(table: string, bytes: number): void;
}

interface ProgressOptions {
  database: string;
  tables: CatalogTable[];
  /** Bytes of a table's content when it was dumped last, if it was. */
  expected: (table: string) => number | undefined;
  report: Report;
}

/** Bytes done, out of bytes expected: what a table had in the last snapshot, else what the server thinks it has. */
export function createDumpProgress({ database, tables, expected, report }: ProgressOptions): DumpProgress {
  const estimates = new Map(tables.map(({ name, bytes }) => [name, expected(`${database}.${name}`) ?? bytes]));
  const read = new Map<string, number>();
  let done = 0;
  let total = [...estimates.values()].reduce((sum, estimate) => sum + estimate, 0);

  return {
    onBytes(table, bytes) {
      const estimate = estimates.get(table) ?? 0;
      const before = read.get(table) ?? 0;
      done += bytes;
      total += Math.max(estimate, before + bytes) - Math.max(estimate, before);
      read.set(table, before + bytes);
      const own = before + bytes;
      report({
        ...{ event: 'progress', step: 'dump', done, total, unit: 'bytes', current: `${database}.${table}` },
        of_current: { done: own, total: Math.max(estimate, own), bytes: own },
      });
    },
  };
}
