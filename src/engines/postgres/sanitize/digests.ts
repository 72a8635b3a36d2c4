import type { ColumnDigest, ColumnFacts } from '../../../sanitize/column-facts.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { groupsOf } from '../../shared/groups.ts';
import { type DigestRow, digestsIn } from '../../shared/sanitize/digests.ts';
import { connect } from '../connection/connect.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';
import { hashOf, tableReference } from './columns.ts';

/** A target list has about 1600 expressions; a column needs three. */
const COLUMNS_A_SCAN = 200;

/** One scan a table; dropped columns have no digest. */
export async function digestColumns(context: EngineContext, url: DatabaseUrl, columns: ColumnFacts[]) {
  await using session = await connect(context, url, { settings: { row_security: 'off', statement_timeout: '0' } });
  const digests = new Map<string, ColumnDigest>();
  for (const ofTable of Map.groupBy(columns, ({ schema, table }) => JSON.stringify([schema, table])).values()) {
    const present = await presentColumns(session, ofTable);
    for (const some of groupsOf(present.columns, COLUMNS_A_SCAN)) {
      for (const [name, digest] of await scan(session, { ...present, columns: some })) digests.set(name, digest);
    }
  }
  return digests;
}

interface Present {
  partitioned: boolean;
  columns: ColumnFacts[];
}

async function presentColumns(session: PostgresSession, columns: ColumnFacts[]): Promise<Present> {
  const [table] = columns;
  const rows = await session.query<{ partitioned: boolean; name: string }>(`
    SELECT c.relkind = 'p' AS partitioned, a.attname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND n.nspname = ${quoteText(table?.schema ?? '')} AND c.relname = ${quoteText(table?.table ?? '')}`);
  const names = new Set(rows.map(({ name }) => name));
  return { partitioned: rows[0]?.partitioned ?? false, columns: columns.filter(({ column }) => names.has(column)) };
}

async function scan(session: PostgresSession, { partitioned, columns }: Present) {
  const [table] = columns;
  if (!table) return [];
  const expressions = columns.flatMap(({ column, sampleHashes }, index) => {
    const hash = hashOf(`${quoteName(column)}::text`);
    return [
      `count(${quoteName(column)}) AS v${index}`,
      `coalesce(sum(${hash}::numeric), 0)::text AS d${index}`,
      `count(*) FILTER (WHERE ${hash} = ANY ('{${sampleHashes.join(',')}}'::bigint[])) AS s${index}`,
    ];
  });
  const [row] = await session.query<DigestRow>(
    `SELECT ${expressions.join(', ')} FROM ${tableReference({ ...table, partitioned })}`,
  );
  return digestsIn(row, columns);
}
