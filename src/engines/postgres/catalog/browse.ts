import type { NameWithSize } from '../../../results/results.ts';
import { tableName } from '../../../text/table-names.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { SmallTable, SmallTablesRequest } from '../../facets/connect.ts';
import { connect, connectToServer } from '../connection/connect.ts';
import { quoteName, quotePath, quoteText } from '../connection/quote.ts';
import { namePartOf, readSchemas, readTables } from './introspect.ts';

/** Accessible databases, without the tool's own. */
export async function listDatabases(context: EngineContext, url: DatabaseUrl): Promise<NameWithSize[]> {
  await using session = await connectToServer(context, url);
  return session.query<NameWithSize>(`
    SELECT datname AS name, pg_database_size(oid) AS size_bytes FROM pg_database
    WHERE datallowconn AND NOT datistemplate AND has_database_privilege(oid, 'CONNECT') AND datname !~ '[.]tool-'
    ORDER BY datname`);
}

export async function listSchemas(context: EngineContext, url: DatabaseUrl): Promise<NameWithSize[]> {
  await using session = await connect(context, url);
  const schemas = await readSchemas(session);
  const tables = await readTables(session);
  return schemas.map(({ name }) => ({
    name,
    size_bytes: tables.reduce((sum, table) => sum + (table.schema === name ? table.bytes : 0), 0),
  }));
}

/** A partitioned table with the size of its partitions; without tables of extensions. */
export async function listTables(context: EngineContext, url: DatabaseUrl): Promise<NameWithSize[]> {
  await using session = await connect(context, url);
  return session.query<NameWithSize>(`
    SELECT ${namePartOf('n.nspname')} || '.' || ${namePartOf('c.relname')} AS name,
      CASE c.relkind WHEN 'p' THEN (SELECT coalesce(sum(pg_table_size(relid)), 0)::int8 FROM pg_partition_tree(c.oid))
        ELSE pg_table_size(c.oid) END AS size_bytes
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't'
      AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    ORDER BY n.nspname, c.relname`);
}

/** Hidden rows are refused, as in a build. */
const WHOLE_TABLES = { settings: { statement_timeout: '0', row_security: 'off' }, tablesOnly: true };

export async function countRows(context: EngineContext, url: DatabaseUrl): Promise<Map<string, number>> {
  await using session = await connect(context, url, WHOLE_TABLES);
  await session.execute('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  const counts = new Map<string, number>();
  for (const { schema, name } of await readTables(session)) {
    const table = quotePath(schema, name);
    const [counted] = await session.query<{ rows: number }>(`SELECT count(*) AS rows FROM ONLY ${table}`);
    counts.set(tableName(schema, name), counted?.rows ?? 0);
  }
  return counts;
}

/** The first column of the first row, in a transaction that only reads. */
export async function readValue(context: EngineContext, { url, select }: { url: DatabaseUrl; select: string }) {
  await using session = await connect(context, url, {
    settings: { statement_timeout: '0', search_path: '"$user", public' },
  });
  await session.execute('BEGIN READ ONLY');
  const rows = await session.query<{ value: string | null }>(
    `WITH given AS (${select}
    )
    SELECT (SELECT value FROM json_each_text(row_to_json(given)) LIMIT 1) AS value FROM given LIMIT 1`,
  );
  return rows[0]?.value ?? null;
}

/** Tables of these names in any schema, without those of extensions; a table with more rows is left out. */
export async function readSmallTables(
  context: EngineContext,
  { url, names, mostTables, mostRows, longest }: SmallTablesRequest,
): Promise<SmallTable[]> {
  await using session = await connect(context, url, WHOLE_TABLES);
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
    // As COPY writes values: `::text` could be a cast of a type, which is code of another role.
    const texts = columns.map(
      (column) =>
        `CASE WHEN num_nulls(${quoteName(column)}) = 0 THEN left(concat(${quoteName(column)}), ${Number(longest)}) END`,
    );
    const rows = await session.query<{ texts: (string | null)[] }>(
      `SELECT json_build_array(${texts.join(', ')}) AS texts FROM ${quotePath(schema, name)} LIMIT ${Number(mostRows) + 1}`,
    );
    if (rows.length > mostRows) continue;
    tables.push({ table: tableName(schema, name), columns, rows: rows.map((row) => row.texts) });
  }
  return tables;
}
