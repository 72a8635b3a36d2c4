import { inDatabase, quoteName, tablesIn } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { onRefusal } from '../connection/session-errors.ts';
import type { Histogram } from '../details-schema.ts';
import { readColumns } from './columns.ts';
import { readServer, type Server } from './introspect.ts';
import { readNameCase } from './name-case.ts';

interface HistogramRow {
  table_: string;
  name: string;
  buckets: string | number;
  automatic: string | null;
}

/** Columns with histograms, on MariaDB with engine-independent statistics. None where they cannot be read: without the right, or without a usable table. */
export async function readHistograms(session: MysqlSession, database: string): Promise<Histogram[]> {
  const { flavour } = await readServer(session);
  if (flavour === 'mysql') {
    const rows = await session.query<HistogramRow>(`
      SELECT TABLE_NAME AS table_, COLUMN_NAME AS name, HISTOGRAM->>'$."number-of-buckets-specified"' AS buckets,
        HISTOGRAM->>'$."auto-update"' AS automatic
      FROM information_schema.COLUMN_STATISTICS WHERE ${inDatabase('SCHEMA_NAME', database)}
      ORDER BY TABLE_NAME, COLUMN_NAME`);
    return rows.map(({ table_, name, buckets, automatic }) => ({
      ...{ table: table_, column: name, buckets: Number(buckets) },
      ...(automatic === 'true' && { automatic: true }),
    }));
  }
  const query = `SELECT table_name AS table_, column_name AS name FROM mysql.column_stats
    WHERE ${inDatabase('db_name', database)} ORDER BY table_name, column_name`;
  const rows = await session.query<Pick<HistogramRow, 'table_' | 'name'>>(query).catch(onRefusal(() => []));
  return rows.map(({ table_, name }) => ({ table: table_, column: name }));
}

/** Returns those of the database and the given ones, of its columns alone, with names as the server spells them. */
export async function presentHistograms(session: MysqlSession, database: string, given: Histogram[]) {
  const all = [...given, ...(await readHistograms(session, database))];
  if (all.length === 0) return [];
  const present = await readColumns(session, tablesIn(database));
  const tables = [...all.map(({ table }) => table), ...present.map(({ table }) => table)];
  const { fold } = await readNameCase(session, tables);
  const key = (table: string, column: string): string => JSON.stringify([fold(table), column.toLowerCase()]);
  const byKey = new Map(all.map((histogram) => [key(histogram.table, histogram.column), histogram]));
  return present.flatMap(({ table, name }) => {
    const histogram = byKey.get(key(table, name));
    return histogram ? [{ ...histogram, table, column: name }] : [];
  });
}

/** Number of buckets where the source is a MariaDB: the default of MySQL. */
const BUCKETS = 100;
const AUTOMATIC_SINCE = '8.4';

/** Returns the ends of `ANALYZE TABLE NAME`: one statement for all columns with the same options. */
export function histogramClauses(histograms: Histogram[], { flavour, version }: Server): string[] {
  const mayUpdate = version.localeCompare(AUTOMATIC_SINCE, 'en', { numeric: true }) >= 0;
  const optionsOf = ({ buckets = BUCKETS, automatic }: Histogram): string =>
    flavour === 'mariadb' ? '' : ` WITH ${Number(buckets)} BUCKETS${automatic && mayUpdate ? ' AUTO UPDATE' : ''}`;
  return [...Map.groupBy(histograms, optionsOf)].map(([options, some]) => {
    const columns = some.map(({ column }) => quoteName(column)).join(', ');
    return flavour === 'mariadb'
      ? `PERSISTENT FOR COLUMNS (${columns}) INDEXES ALL`
      : `UPDATE HISTOGRAM ON ${columns}${options}`;
  });
}
