import type { Report } from '../../../runtime/events.ts';
import { tableName } from '../../../text/table-names.ts';
import type { CatalogTable } from '../catalog/introspect.ts';

export interface DumpProgress {
  onStarted(table: CatalogTable): void;
  /** Bytes of its rows. */
  onBytes(table: CatalogTable, bytes: number): void;
  onFinished(table: CatalogTable): void;
}

interface ProgressOptions {
  tables: CatalogTable[];
  /** Bytes of a table's content when it was dumped last, if it was. */
  expected: (table: string) => number | undefined;
  report: Report;
}

/**
 * Bytes done, out of bytes expected: what a table had in the last snapshot, else what it takes on the disk. Sizes on
 * disk and as text differ, so the tables that are finished correct the estimate for the rest.
 */
export function createDumpProgress({ tables, expected, report }: ProgressOptions): DumpProgress {
  const unfinished = new Map(tables.map((table) => [table, expected(nameOf(table)) ?? table.bytes]));
  const read = new Map<CatalogTable, number>();
  let done = 0;
  let finishedBytes = 0;
  let finishedEstimate = 0;
  let current: CatalogTable | undefined;

  function total(): number {
    const ratio = finishedEstimate > 0 ? finishedBytes / finishedEstimate : 1;
    const rest = [...unfinished.values()].reduce((sum, bytes) => sum + bytes, 0);
    return Math.max(done, Math.round(finishedBytes + rest * ratio));
  }

  function say(): void {
    const event = { event: 'progress', step: 'dump', done, total: total(), unit: 'bytes' } as const;
    if (!current) {
      report(event);
      return;
    }
    const bytes = read.get(current) ?? 0;
    const of_current = { done: bytes, total: Math.max(bytes, unfinished.get(current) ?? 0), bytes };
    report({ ...event, current: nameOf(current), of_current });
  }

  return {
    onStarted(table) {
      current = table;
      say();
    },
    onBytes(table, bytes) {
      current = table;
      done += bytes;
      read.set(table, (read.get(table) ?? 0) + bytes);
      say();
    },
    onFinished(table) {
      finishedEstimate += unfinished.get(table) ?? 0;
      finishedBytes += read.get(table) ?? 0;
      unfinished.delete(table);
      current = table;
      say();
    },
  };
}

export function nameOf({ schema, name }: CatalogTable): string {
  return tableName(schema, name);
}
