import type { Report } from '../../../runtime/events.ts';
import { bytesProgress, type OnBytes } from '../../shared/bytes-progress.ts';
import type { CatalogTable } from '../catalog/tables.ts';

interface ProgressOptions {
  schema: string;
  tables: CatalogTable[];
  /** Bytes of a table's content when it was dumped last, if it was. */
  expected: (table: string) => number | undefined;
}

/** Bytes done, out of bytes expected: what a table had in the last snapshot, else what the server thinks it has. */
export function dumpProgress(report: Report, { schema, tables, expected }: ProgressOptions): OnBytes {
  const pathOf = (table: string): string => `${schema}.${table}`;
  const estimates = new Map(tables.map(({ name, bytes }) => [pathOf(name), expected(pathOf(name)) ?? bytes]));
  const onBytes = bytesProgress(report, { step: 'dump', estimates });
  return (table, bytes, isAll) => onBytes(pathOf(table), bytes, isAll);
}
