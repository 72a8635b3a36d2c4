import type { SchemaConfig } from '../../../config/schema/settings.ts';
import type { CatalogColumn, Shape } from '../../../sanitize/ledger/ledger-item.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { readHasLargeObjects, readSchemas } from '../catalog/introspect.ts';
import { selectSchemas } from '../catalog/schema-selection.ts';
import { connect } from '../connection/connect.ts';
import { quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';

/** Reads the catalog only. Columns of partitions count once, as those of their root. */
export async function readContents(context: EngineContext, url: DatabaseUrl, schemaConfig: SchemaConfig | undefined) {
  await using session = await connect(context, url, { settings: { statement_timeout: '0' } });
  const all = (await readSchemas(session)).map(({ name }) => name);
  const { schemas } = selectSchemas(all, schemaConfig);
  // Tables with stored rows; of an extension's tables those whose rows a dump contains.
  const rows = await session.query<ColumnType>(`
    WITH stored AS (
      SELECT DISTINCT CASE WHEN c.relispartition THEN coalesce(pg_partition_root(c.oid)::oid, c.oid) ELSE c.oid END AS oid
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p') AND n.nspname IN (${schemas.map(quoteText).join(', ') || 'NULL'})
        AND (NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
          OR EXISTS (SELECT FROM pg_extension e WHERE c.oid = ANY (e.extconfig))))
    SELECT n.nspname AS schema, c.relname AS "table", a.attname AS "column", a.atttypid::int8 AS type_oid,
      format_type(a.atttypid, a.atttypmod) AS type
    FROM stored s JOIN pg_class c ON c.oid = s.oid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY n.nspname, c.relname, a.attnum`);
  const shapeOf = await readShapes(session, new Set(rows.map(({ type_oid }) => type_oid)));
  const columns = rows.map(
    ({ schema, table, column, type, type_oid }): CatalogColumn => ({
      ...{ schema, table, column, type },
      shape: shapeOf(type_oid),
    }),
  );
  return { columns, largeObjects: await readHasLargeObjects(session) };
}

interface ColumnType extends Omit<CatalogColumn, 'shape'> {
  type_oid: number;
}

interface TypeRow {
  oid: number;
  name: string;
  /** The type within a domain, an array or a range. */
  inner_oid: number;
  is_array: boolean;
  values: string[] | null;
  fields: { name: string; oid: number }[] | null;
}

/** Types within types, at most. */
const MOST_DEPTH = 8;

/** Returns the shapes of the types, and reads those that they consist of. */
async function readShapes(session: PostgresSession, used: Set<number>): Promise<(oid: number) => Shape> {
  const types = new Map<number, TypeRow>();
  let wanted = [...used];
  for (let depth = 0; wanted.length > 0 && depth < MOST_DEPTH; depth += 1) {
    const rows = await session.query<TypeRow>(`
    SELECT t.oid::int8 AS oid, CASE WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname ELSE '' END AS name,
      coalesce(nullif(t.typbasetype, 0), (SELECT r.rngsubtype FROM pg_range r WHERE t.oid = r.rngtypid),
        CASE WHEN t.typcategory = 'A' THEN t.typelem END, 0)::int8 AS inner_oid,
      t.typcategory = 'A' AND t.typbasetype = 0 AS is_array,
      (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid) AS "values",
      (SELECT json_agg(json_build_object('name', a.attname, 'oid', a.atttypid::int8) ORDER BY a.attnum) FROM pg_attribute a
        WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) AS fields
    FROM pg_type t WHERE t.oid IN (${wanted.map(Number).join(', ')})`);
    for (const row of rows) types.set(row.oid, row);
    const inner = rows.flatMap(({ inner_oid, fields }) => [inner_oid, ...(fields ?? []).map(({ oid }) => oid)]);
    wanted = [...new Set(inner)].filter((oid) => oid !== 0 && !types.has(oid));
  }
  const shapeOf = (oid: number, depth = 0): Shape => {
    const type = types.get(oid);
    if (!type || depth > MOST_DEPTH) return { kind: 'plain' };
    if (type.values) return { kind: 'enum', values: type.values };
    if (type.fields) {
      const fields = type.fields.map((field) => ({ name: field.name, shape: shapeOf(field.oid, depth + 1) }));
      return { kind: 'record', fields };
    }
    if (type.inner_oid === 0) return { kind: type.name === 'json' || type.name === 'jsonb' ? 'document' : 'plain' };
    const inner = shapeOf(type.inner_oid, depth + 1);
    return type.is_array ? { kind: 'array', of: inner } : inner;
  };
  return (oid) => shapeOf(oid);
}
