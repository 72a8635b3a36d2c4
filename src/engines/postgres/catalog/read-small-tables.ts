import { tableName } from '../../../text/table-names.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { SmallTable, SmallTablesRequest } from '../../facets/connect.ts';
import { connect } from '../connection/connect.ts';
import { quoteName, quoteText } from '../connection/quote.ts';

/** Tables of these names in any schema, without those of extensions; a table with more rows is left out. */
export async function readSmallTables(
  context: EngineContext,
  { url, names, mostTables, mostRows, longest }: SmallTablesRequest,
): Promise<SmallTable[]> {
  await using session = await connect(context, url, { settings: { statement_timeout: '0' } });
  await session.execute('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  const found = await session.query<{ schema: string; name: string; columns: string[] }>(`
    SELECT n.nspname AS schema, c.relname AS name, json_agg(a.attname ORDER BY a.attnum) AS columns
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND lower(c.relname) IN (${names.map(quoteText).join(', ')})
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    GROUP BY n.nspname, c.relname ORDER BY n.nspname, c.relname LIMIT ${Number(mostTables)}`);
  const tables: SmallTable[] = [];
  for (const { schema, name, columns } of found) {
    const texts = columns.map((column) => `left(${quoteName(column)}::text, ${Number(longest)})`);
    const rows = await session.query<{ texts: (string | null)[] }>(
      `SELECT json_build_array(${texts.join(', ')}) AS texts FROM ${quoteName(schema)}.${quoteName(name)} LIMIT ${Number(mostRows) + 1}`,
    );
    if (rows.length > mostRows) continue;
    tables.push({ table: tableName(schema, name), columns, rows: rows.map((row) => row.texts) });
  }
  return tables;
}
