import { createHash } from 'node:crypto';
import type { ColumnFacts, ColumnFamily } from '../../../sanitize/column-facts.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ColumnsRequest } from '../../facets/sanitize.ts';
import { SAMPLE_LENGTH, SAMPLED_ROWS, SAMPLES } from '../../shared/sanitize/samples.ts';
import { isGenerated, readTablesWithoutRows } from '../catalog/tables.ts';
import { connect } from '../connection/connect.ts';
import { inDatabase, MARK, quoteName, quoteText } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { detailsOf } from '../details.ts';

/** Named with the database of the snapshot's source. */
export async function readColumns(context: EngineContext, { url, manifest }: ColumnsRequest): Promise<ColumnFacts[]> {
  const { database: schema } = detailsOf(manifest);
  await using session = await connect(context, url);
  const rows = await readCatalog(session, url.database ?? '');
  const facts: ColumnFacts[] = [];
  for (const columns of Map.groupBy(rows, ({ table_ }) => table_).values()) {
    const samples = await sampleTable(session, columns);
    for (const [index, column] of columns.entries()) facts.push(factsOf(schema, column, samples.get(index) ?? []));
  }
  return facts;
}

export interface CatalogRow {
  table_: string;
  column_: string;
  base: string;
  type: string;
  max_length: number | null;
  collation: string | null;
  nullable: number;
  extra: string;
  is_unique: number;
  is_json: number;
}

/** Joined here: a server reads the information schema anew for each row of a subquery. */
export async function readCatalog(session: MysqlSession, database: string): Promise<CatalogRow[]> {
  const columns = await session.query<Omit<CatalogRow, 'is_json' | 'is_unique'>>(`
    SELECT c.TABLE_NAME AS table_, c.COLUMN_NAME AS column_, LOWER(c.DATA_TYPE) AS base, c.COLUMN_TYPE AS type,
      c.CHARACTER_MAXIMUM_LENGTH AS max_length, c.COLLATION_NAME AS collation, c.IS_NULLABLE = 'YES' AS nullable,
      c.EXTRA AS extra
    FROM information_schema.COLUMNS c
    WHERE ${inDatabase('c.TABLE_SCHEMA', database)} AND c.TABLE_NAME <> ${quoteText(MARK)}
    ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`);
  const tables = await session.query<{ name: string }>(`
    SELECT TABLE_NAME AS name FROM information_schema.TABLES
    WHERE ${inDatabase('TABLE_SCHEMA', database)} AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED')`);
  const stored = new Set(tables.map(({ name }) => name));
  const unique = await readUniqueColumns(session, database);
  // The others show rows of other tables or servers.
  const others = new Set((await readTablesWithoutRows(session, database)).map(({ name }) => name));
  const checks = await session
    .query<{ table_: string; column_: string }>(`
      SELECT TABLE_NAME AS table_, CONSTRAINT_NAME AS column_ FROM information_schema.CHECK_CONSTRAINTS
      WHERE ${inDatabase('CONSTRAINT_SCHEMA', database)} AND LEVEL = 'Column' AND CHECK_CLAUSE LIKE 'json_valid(%'`)
    // MySQL has a type JSON and no such table column.
    .catch(() => []);
  const json = new Set(checks.map(({ table_, column_ }) => JSON.stringify([table_, column_])));
  const own = columns.filter(({ table_ }) => stored.has(table_) && !others.has(table_));
  return own.map((column) => {
    const key = JSON.stringify([column.table_, column.column_]);
    return { ...column, is_unique: unique.has(key) ? 1 : 0, is_json: json.has(key) ? 1 : 0 };
  });
}

/** Columns that are a whole unique index, as keys of table and column. */
async function readUniqueColumns(session: MysqlSession, database: string): Promise<Set<string>> {
  const parts = await session.query<{ table_: string; index_: string; column_: string | null; part: number | null }>(`
    SELECT TABLE_NAME AS table_, INDEX_NAME AS index_, COLUMN_NAME AS column_, SUB_PART AS part
    FROM information_schema.STATISTICS WHERE ${inDatabase('TABLE_SCHEMA', database)} AND NON_UNIQUE = 0`);
  const indexes = Map.groupBy(parts, ({ table_, index_ }) => JSON.stringify([table_, index_]));
  const whole = [...indexes.values()].filter((columns) => columns.length === 1).flat();
  return new Set(
    whole.filter(({ part }) => part === null).map(({ table_, column_ }) => JSON.stringify([table_, column_])),
  );
}

const SAMPLED_FAMILIES = new Set<ColumnFamily>(['text', 'number', 'date', 'network', 'document']);

async function sampleTable(session: MysqlSession, columns: CatalogRow[]): Promise<Map<number, string[]>> {
  const [table] = columns;
  const wanted = [...columns.entries()].filter(([, column]) => SAMPLED_FAMILIES.has(familyOf(column)));
  if (!table || wanted.length === 0) return new Map();
  const values = wanted.map(
    ([index, column]) => `LEFT(${textOf(quoteName(column.column_), familyOf(column))}, ${SAMPLE_LENGTH}) AS c${index}`,
  );
  const rows = await session.query<Record<string, string | null>>(
    `SELECT ${values.join(', ')} FROM ${quoteName(table.table_)} LIMIT ${SAMPLED_ROWS}`,
  );
  return new Map(
    wanted.map(([index]) => [index, rows.map((row) => row[`c${index}`] ?? null).filter((value) => value !== null)]),
  );
}

export function textOf(column: string, family: ColumnFamily): string {
  if (family === 'binary') return column;
  // A geometry is no text.
  return family === 'other' ? `HEX(${column})` : `CONVERT(${column} USING utf8mb4)`;
}

/** Enough digits against collisions, few enough to sum as integers. */
const HASH_DIGITS = 15;

/** Case and blanks around the value do not count; an empty value has no hash. */
export function hashOf(text: string): string {
  return `LEFT(SHA2(NULLIF(LOWER(TRIM(${text})), ''), 256), ${HASH_DIGITS})`;
}

function hashOfSample(sample: string): string {
  let end = sample.length;
  while (sample[end - 1] === ' ') end -= 1;
  const plain = sample.slice(0, end).replace(/^ +/, '').toLowerCase();
  return createHash('sha256').update(plain).digest('hex').slice(0, HASH_DIGITS);
}

function factsOf(schema: string, row: CatalogRow, values: string[]): ColumnFacts {
  const { table_: table, column_: column, type, max_length, collation } = row;
  const distinct = [...new Set(values)];
  const samples = distinct.slice(0, SAMPLES);
  return {
    ...{ schema, table, column, type },
    family: familyOf(row),
    maxLength: max_length === null ? null : Number(max_length),
    unique: Number(row.is_unique) === 1,
    nullable: Number(row.nullable) === 1,
    generated: isGenerated(row.extra),
    ignoresCase: collation?.endsWith('_ci') ?? false,
    sampled: values.length,
    distinct: distinct.length,
    samples,
    sampleHashes: samples.filter((sample) => sample.length < SAMPLE_LENGTH).map(hashOfSample),
  };
}

const FAMILY_OF_TYPE: Record<string, ColumnFamily> = {
  ...families('text', 'char varchar tinytext text mediumtext longtext'),
  ...families('number', 'tinyint smallint mediumint int bigint decimal float double year'),
  ...families('binary', 'binary varbinary tinyblob blob mediumblob longblob'),
  ...families('time', 'datetime timestamp time'),
  ...families('network', 'inet4 inet6'),
  date: 'date',
  json: 'document',
};

function families(family: ColumnFamily, types: string): Record<string, ColumnFamily> {
  return Object.fromEntries(types.split(' ').map((type) => [type, family]));
}

export function familyOf({ base, type, is_json }: CatalogRow): ColumnFamily {
  if (is_json === 1) return 'document';
  return /^(tinyint|bit)\(1\)/.test(type) ? 'boolean' : (FAMILY_OF_TYPE[base] ?? 'other');
}
