import type { Report } from '../../../events.ts';
import type { CatalogueTable } from '../catalogue.ts';

export interface DumpProgress {
  onBytes(table: string, bytes: number): void;
}

interface ProgressOptions {
  database: string;
  tables: CatalogueTable[];
  /** Bytes of a table's content when it was dumped last, if it was. */
  expected: (table: string) => number | undefined;
  report: Report;
}

/** Bytes done, out of bytes expected: what a table had in the last snapshot, else what the server thinks it has. */
export function createDumpProgress({ database, tables, expected, report }: ProgressOptions): DumpProgress {
  const estimates = new Map(tables.map(({ name, bytes }) => [name, expected(`${database}.${name}`) ?? bytes]));
  const read = new Map<string, number>();
  let done = 0;

  function total(): number {
    let sum = 0;
    for (const [name, estimate] of estimates) sum += Math.max(estimate, read.get(name) ?? 0);
    return sum;
  }

  return {
    onBytes(table, bytes) {
      done += bytes;
      read.set(table, (read.get(table) ?? 0) + bytes);
      report({ event: 'progress', step: 'dump', done, total: total(), unit: 'bytes', current: `${database}.${table}` });
    },
  };
}
