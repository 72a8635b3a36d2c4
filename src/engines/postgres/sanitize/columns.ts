import type { ColumnFacts, ColumnFamily } from '../../../sanitize/column-facts.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ColumnsRequest } from '../../facets/sanitize.ts';
import { SAMPLE_LENGTH, SAMPLED_ROWS, SAMPLES } from '../../shared/sanitize/samples.ts';
import { connect } from '../connection/connect.ts';
import { quoteName, quotePath, quoteText } from '../connection/quote.ts';
import type { PostgresSession } from '../connection/session.ts';

const SAMPLED_BYTES = 4 * 1024 * 1024;

/** Columns of partitions count once, as their table's. */
export async function readColumns(context: EngineContext, { url, manifest }: ColumnsRequest): Promise<ColumnFacts[]> {
  await using session = await connect(context, url, { settings: { row_security: 'off', statement_timeout: '0' } });
  const rows = await session.query<CatalogRow>(`
    SELECT c.oid::int8 AS oid, n.nspname AS schema, c.relname AS "table", c.relkind = 'p' AS partitioned,
      CASE c.relkind WHEN 'p' THEN (SELECT coalesce(sum(pg_relation_size(relid)), 0) FROM pg_partition_tree(c.oid))
        ELSE pg_relation_size(c.oid) END AS bytes,
      a.attname AS "column", format_type(a.atttypid, a.atttypmod) AS type,
      format_type(coalesce(nullif(t.typbasetype, 0), t.oid), NULL) AS base, t.typcategory AS category,
      information_schema._pg_char_max_length(
        information_schema._pg_truetypid(a, t), information_schema._pg_truetypmod(a, t)) AS max_length,
      EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND i.indpred IS NULL
        AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum) AS is_unique,
      NOT a.attnotnull AS nullable, a.attgenerated <> '' AS generated
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname IN (${manifest.schemas.map(quoteText).join(', ')})
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    ORDER BY n.nspname, c.relname, a.attnum`);
  const facts: ColumnFacts[] = [];
  for (const columns of Map.groupBy(rows, ({ oid }) => oid).values()) {
    const samples = await sampleTable(session, columns);
    for (const [index, column] of columns.entries()) facts.push(factsOf(column, samples.get(index)));
  }
  return facts;
}

interface CatalogRow {
  oid: number;
  schema: string;
  table: string;
  partitioned: boolean;
  bytes: number;
  column: string;
  type: string;
  base: string;
  category: string;
  max_length: number | null;
  is_unique: boolean;
  nullable: boolean;
  generated: boolean;
}

interface Sample {
  sampled: number;
  distinct: number;
  samples: { value: string; hash: string | null }[] | null;
}

const SAMPLED_FAMILIES = new Set<ColumnFamily>(['text', 'number', 'date', 'network', 'hardware', 'document']);

async function sampleTable(session: PostgresSession, columns: CatalogRow[]): Promise<Map<number, Sample>> {
  const [table] = columns;
  const wanted = [...columns.entries()].filter(([, column]) => SAMPLED_FAMILIES.has(familyOf(column)));
  if (!table || wanted.length === 0) return new Map();
  const percent = (100 * SAMPLED_BYTES) / Math.max(1, table.bytes);
  const part = percent < 100 ? ` TABLESAMPLE SYSTEM (${percent.toPrecision(6)}) REPEATABLE (1)` : '';
  const values = wanted.map(
    ([index, { column }]) => `left(${quoteName(column)}::text, ${SAMPLE_LENGTH}) COLLATE "C" AS c${index}`,
  );
  const ofColumn = wanted.map(
    ([index]) => `SELECT ${index} AS index, count(c${index}) AS sampled, count(DISTINCT c${index}) AS "distinct",
      (SELECT json_agg(json_build_object('value', v, 'hash', CASE WHEN length(v) < ${SAMPLE_LENGTH} THEN ${hashOf('v')}::text END))
        FROM (SELECT DISTINCT c${index} AS v FROM sample WHERE c${index} IS NOT NULL LIMIT ${SAMPLES}) d) AS samples FROM sample`,
  );
  const rows = await session.query<Sample & { index: number }>(`
    WITH sample AS MATERIALIZED (SELECT ${values.join(', ')} FROM ${tableReference(table)}${part} LIMIT ${SAMPLED_ROWS})
    ${ofColumn.join(' UNION ALL ')}`);
  return new Map(rows.map((row) => [row.index, row]));
}

/** Case and blanks around the value do not count; an empty value has no hash. */
export function hashOf(text: string): string {
  return `hashtextextended(nullif(lower(btrim(${text} COLLATE "default", E' \\t\\n\\r')), '') COLLATE "C", 0)`;
}

/** ONLY: inheriting tables have columns of their own. */
export function tableReference({ schema, table, partitioned }: Pick<CatalogRow, 'schema' | 'table' | 'partitioned'>) {
  return `${partitioned ? '' : 'ONLY '}${quotePath(schema, table)}`;
}

function factsOf(row: CatalogRow, sample: Sample | undefined): ColumnFacts {
  const { schema, table, column, type, max_length, is_unique, nullable, generated } = row;
  return {
    ...{ schema, table, column, type, nullable, generated },
    family: familyOf(row),
    ignoresCase: baseOf(row) === 'citext',
    maxLength: max_length,
    unique: is_unique,
    sampled: sample?.sampled ?? 0,
    distinct: sample?.distinct ?? 0,
    samples: sample?.samples?.map(({ value }) => value) ?? [],
    sampleHashes: sample?.samples?.flatMap(({ hash }) => hash ?? []) ?? [],
  };
}

const FAMILY_OF_TYPE: Record<string, ColumnFamily> = {
  bytea: 'binary',
  date: 'date',
  hstore: 'document',
  json: 'document',
  jsonb: 'document',
  macaddr: 'hardware',
  macaddr8: 'hardware',
  'text[]': 'document',
  'character varying[]': 'document',
  tsvector: 'document',
  xml: 'document',
};

/** By `typcategory`. https://www.postgresql.org/docs/current/catalog-pg-type.html */
const FAMILY_OF_CATEGORY: Record<string, ColumnFamily> = {
  B: 'boolean',
  D: 'time',
  I: 'network',
  N: 'number',
  S: 'text',
};

function familyOf(row: CatalogRow): ColumnFamily {
  return FAMILY_OF_TYPE[baseOf(row)] ?? FAMILY_OF_CATEGORY[row.category] ?? 'other';
}

function baseOf({ base }: CatalogRow): string {
  return base.slice(base.lastIndexOf('.') + 1);
}
