import type { Report } from '../../../runtime/events.ts';
import { tableName } from '../../../text/table-names.ts';
import type { CatalogTable } from '../introspect.ts';

export interface DumpProgress {
  /** Bytes read from a file of the dump. */
  onBytes(file: string, bytes: number): void;
  /** A line of `pg_dump --verbose`. */
  onToolLine(line: string): void;
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
  const read = new Map<string, number>();
  let done = 0;
  let finishedBytes = 0;
  let finishedEstimate = 0;
  let current: string | undefined;

  function total(): number {
    const ratio = finishedEstimate > 0 ? finishedBytes / finishedEstimate : 1;
    const rest = [...unfinished.values()].reduce((sum, bytes) => sum + bytes, 0);
    return Math.max(done, Math.round(finishedBytes + rest * ratio));
  }

  function say(): void {
    report({ event: 'progress', step: 'dump', done, total: total(), unit: 'bytes', ...(current && { current }) });
  }

  return {
    onBytes(file, bytes) {
      done += bytes;
      read.set(file, (read.get(file) ?? 0) + bytes);
      say();
    },
    onToolLine(line) {
      const started = /dumping contents of table "(.+)"$/.exec(line)?.[1];
      if (started !== undefined) {
        current = started;
        return say();
      }
      const finished = /finished item (\d+) TABLE DATA (.+)$/.exec(line);
      const table = tables.find((candidate) => candidate.name === finished?.[2] && unfinished.has(candidate));
      if (!finished || !table) return;
      finishedEstimate += unfinished.get(table) ?? 0;
      finishedBytes += read.get(`${finished[1]}.dat`) ?? 0;
      unfinished.delete(table);
    },
  };
}

export function nameOf({ schema, name }: CatalogTable): string {
  return tableName(schema, name);
}
