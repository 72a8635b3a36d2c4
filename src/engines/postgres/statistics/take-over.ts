import { mapWithConcurrency } from '../../../runtime/map-with-concurrency.ts';
import type { RestoreRun } from '../../facets/restore.ts';
import { quoteNumber, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { majorOf } from '../connection/tools.ts';
import { archiveDetails } from '../dump/archive.ts';
import { dataOf, pathOf } from '../restore/rows/copy-commands.ts';
import {
  gatheredParts,
  readStoredStatistics,
  STATISTICS,
  STATISTICS_SINCE,
  type StoredStatistics,
} from './stored-file.ts';

/** Statistics of the snapshot for tables that a load fills with all of their rows. */
export interface StatisticsToTakeOver {
  /** Tables by their quoted path. */
  tables: ReadonlySet<string>;
  /** Needs the rows and the indexes of the tables. Returns the tables whose statistics are all there. */
  takeOver(session: PostgresSession): Promise<Set<string>>;
}

/** Absent where no table has any: all are gathered then. */
export async function statisticsToTakeOver(
  run: Pick<RestoreRun, 'manifest' | 'plan' | 'read'>,
): Promise<StatisticsToTakeOver | undefined> {
  const { manifest, plan } = run;
  if (majorOf(plan.destination.server_version) < STATISTICS_SINCE) return undefined;
  const stored = new Map((await readStoredStatistics(run)).map((one) => [pathOf(one), one]));
  const details = archiveDetails(manifest);
  const found = plan.tables.flatMap(({ rows, ...table }) => {
    const data = dataOf({ rows, ...table }, details);
    const path = pathOf(data);
    const statistics = stored.get(path);
    return statistics && rows > 0 && !data.root ? [{ path, rows, statistics }] : [];
  });
  if (found.length === 0) return undefined;
  return {
    tables: new Set(found.map(({ path }) => path)),
    async takeOver(session) {
      const taken = await mapWithConcurrency(found, STATEMENTS_AT_ONCE, async ({ path, rows, statistics }) => {
        return (await takeOverTable(session, statistics, rows)) ? [path] : [];
      });
      return new Set(taken.flat());
    },
  };
}

const STATEMENTS_AT_ONCE = 16;

/**
 * Only of the table itself and its own indexes, whatever the snapshot says. The pages are those of the restored table,
 * since the planner compares their number with that of the rows.
 */
async function takeOverTable(session: PostgresSession, { schema, table, columns }: StoredStatistics, rows: number) {
  const fields = Object.entries(STATISTICS);
  const query = `
    WITH named AS (SELECT ${quoteText(schema)}::name AS of_schema, ${quoteText(table)}::name AS of_table), ${gatheredParts()},
    taken AS (
      SELECT p.relation, p."column", pg_restore_attribute_stats('schemaname', p.schema::text, 'relname', p.relation::text,
        'attname', p."column"::text, 'inherited', false, 'version', current_setting('server_version_num')::integer,
        ${fields.map(([name]) => `${quoteText(name)}, s.${name}`).join(', ')}) AS is_whole
      FROM parts p JOIN json_to_recordset(${quoteText(JSON.stringify(columns))})
        AS s (relation text, "column" text, ${fields.map(([name, type]) => `${name} ${type}`).join(', ')})
        ON s.relation = p.relation AND s."column" = p."column"),
    complete AS (
      SELECT t.* FROM tables t
      WHERE (SELECT count(DISTINCT (relation, "column")) FROM taken WHERE is_whole) = (SELECT count(*) FROM parts))
    SELECT pg_restore_relation_stats('schemaname', c.schema::text, 'relname', c."table"::text,
      'version', current_setting('server_version_num')::integer,
      'relpages', (pg_relation_size(c.oid) / current_setting('block_size')::bigint)::integer,
      'reltuples', (${quoteNumber(rows)})::real) AS is_whole
    FROM complete c`;
  try {
    // Values of rows do not belong in a log.
    const [result] = await session.query<{ is_whole: boolean }>(query, { told: `statistics of ${table}` });
    return result?.is_whole ?? false;
  } catch (error) {
    // What the server refuses, such as a value that is none of the column's type, is gathered.
    if (error instanceof SqlError) return false;
    throw error;
  }
}
