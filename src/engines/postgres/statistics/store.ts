import type { DumpRequest } from '../../facets/dump.ts';
import type { CatalogTable } from '../catalog/introspect.ts';
import { quoteNumber, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { DATA_TERMINATOR } from '../dump/archive.ts';
import { withinSavepoint } from '../dump/unchanged/savepoint.ts';
import {
  gatheredParts,
  MOST_STATISTICS_BYTES,
  MOST_STATISTICS_TABLES,
  STATISTICS,
  STATISTICS_FILE,
  STATISTICS_SINCE,
} from './stored-file.ts';

/** ANALYZE of a smaller table costs no more than to take its statistics over. */
const FROM_BYTES = 256 * 1024;

export interface StatisticsSource {
  request: DumpRequest;
  tables: CatalogTable[];
  serverMajor: number;
}

/**
 * Stores the statistics of the larger tables, in the transaction of the dump; `null` where there are none. Tables without
 * their rows, or with some values of them replaced, have other ones than those of the snapshot.
 */
export async function storeStatistics(session: PostgresSession, { request, tables, serverMajor }: StatisticsSource) {
  if (!request.keepsStatistics || serverMajor < STATISTICS_SINCE) return null;
  const large = tables
    .filter((table) => table.bytes >= FROM_BYTES && !table.without_rows && !table.nulled && !table.of_extension)
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, MOST_STATISTICS_TABLES);
  if (large.length === 0) return null;
  const rows: Buffer[] = [];
  let bytes = 0;
  const read = await withinSavepoint(session, async () => {
    await session.lines(copyStatement(large), (lines) => {
      bytes += lines.length;
      if (bytes <= MOST_STATISTICS_BYTES) rows.push(Buffer.from(lines));
    });
    return true;
  });
  if (!read || bytes === 0 || bytes > MOST_STATISTICS_BYTES) return null;
  const content = new Uint8Array(Buffer.concat([...rows, Buffer.from(DATA_TERMINATOR)]));
  return await request.write(STATISTICS_FILE, { content, terminator: DATA_TERMINATOR });
}

/** Rows that changed since ANALYZE, from which the server's own autovacuum gathers the statistics again. */
const STALE_ROWS = 50;
const STALE_SHARE = 0.1;

/**
 * A line of JSON for each table whose statistics are complete and not stale. No JSON has the control characters by which
 * CSV would be quoted. What row security or missing rights hide makes a table's statistics incomplete.
 */
function copyStatement(tables: CatalogTable[]): string {
  const named = JSON.stringify(tables.map(({ schema, name }) => ({ of_schema: schema, of_table: name })));
  const fields = Object.entries(STATISTICS).map(
    ([name, type]) => `s.${name}${type === 'text' ? '::text' : ''} AS ${name}`,
  );
  const recent = `pg_stat_get_mod_since_analyze(c.oid) <= ${quoteNumber(STALE_ROWS)} + ${STALE_SHARE} * greatest(c.reltuples, 0)`;
  return `COPY (
    WITH named AS (SELECT * FROM json_to_recordset(${quoteText(named)}) AS w (of_schema name, of_table name)),
    ${gatheredParts(recent)}
    SELECT json_build_object('schema', p.schema, 'table', p."table",
      'columns', json_agg(json_strip_nulls(row_to_json(f)) ORDER BY p.relation, p."column"))
    FROM (SELECT *, count(*) OVER (PARTITION BY oid) AS wanted FROM parts) p
    JOIN pg_stats s ON s.schemaname = p.schema AND s.tablename = p.relation AND s.attname = p."column" AND NOT s.inherited,
      LATERAL (SELECT p.relation, p."column", ${fields.join(', ')}) f
    GROUP BY p.oid, p.schema, p."table", p.wanted HAVING count(*) = p.wanted
    ORDER BY p.schema, p."table"
  ) TO STDOUT WITH (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')`;
}
