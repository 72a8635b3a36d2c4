import { createHash } from 'node:crypto';
import type { ColumnFacts, ColumnFamily } from '../../../sanitize/column-facts.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ColumnsRequest } from '../../facets/sanitize.ts';
import { SAMPLE_LENGTH, SAMPLED_ROWS, SAMPLES } from '../../shared/sanitize/samples.ts';
import { type ColumnRow, readColumns as readColumnRows, readIndexes } from '../catalog/columns.ts';
import { isGenerated, ownTablesIn, readTableList } from '../catalog/tables.ts';
import { connect } from '../connection/connect.ts';
import { asTable, inDatabase, quoteName } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { detailsOf } from '../details.ts';

/** Named with the database of the snapshot's source. */
export async function readColumns(context: EngineContext, { url, manifest }: ColumnsRequest): Promise<ColumnFacts[]> {
  const { database: schema } = detailsOf(manifest);
  await using session = await connect(context, url);
  const rows = await readCatalog(session, url.database ?? '');
  const facts: ColumnFacts[] = [];
  for (const columns of Map.groupBy(rows, ({ table }) => table).values()) {
    const samples = await sampleTable(session, columns);
    for (const [index, column] of columns.entries()) facts.push(factsOf(schema, column, samples.get(index) ?? []));
  }
  return facts;
}

export interface CatalogRow extends ColumnRow {
  isUnique: boolean;
  isJson: boolean;
}

/** Columns of tables with rows of their own. Joined here: a server reads the information schema anew for each row of a subquery. */
export async function readCatalog(session: MysqlSession, database: string): Promise<CatalogRow[]> {
  const within = await ownTablesIn(session, database);
  const tables = (await readTableList(session, database)).filter(({ type }) => type !== 'VIEW' && type !== 'SEQUENCE');
  const stored = new Set(tables.map(({ name }) => name));
  const columns = (await readColumnRows(session, within)).filter(({ table }) => stored.has(table));
  const whole = (await readIndexes(session, within)).filter(
    ({ isUnique, columns: [first, ...more] }) => isUnique && first?.part === null && more.length === 0,
  );
  const unique = new Set(whole.map(({ table, columns: [column] }) => JSON.stringify([table, column?.name])));
  const checks = await session
    .query<{ table_: string; column_: string }>(`
      SELECT TABLE_NAME AS table_, CONSTRAINT_NAME AS column_ FROM information_schema.CHECK_CONSTRAINTS
      WHERE ${inDatabase('CONSTRAINT_SCHEMA', database)} AND LEVEL = 'Column' AND CHECK_CLAUSE LIKE 'json_valid(%'`)
    // MySQL has a type JSON and no such table column.
    .catch(() => []);
  const json = new Set(checks.map(({ table_, column_ }) => JSON.stringify([table_, column_])));
  return columns.map((column) => {
    const key = JSON.stringify([column.table, column.name]);
    return { ...column, isUnique: unique.has(key), isJson: json.has(key) };
  });
}

const SAMPLED_FAMILIES = new Set<ColumnFamily>(['text', 'number', 'date', 'network', 'document']);

async function sampleTable(session: MysqlSession, columns: CatalogRow[]): Promise<Map<number, string[]>> {
  const [table] = columns;
  const wanted = [...columns.entries()].filter(([, column]) => SAMPLED_FAMILIES.has(familyOf(column)));
  if (!table || wanted.length === 0) return new Map();
  const values = wanted.map(
    ([index, column]) => `LEFT(${textOf(quoteName(column.name), familyOf(column))}, ${SAMPLE_LENGTH}) AS c${index}`,
  );
  const rows = await session.query<Record<string, string | null>>(
    `SELECT ${values.join(', ')} FROM ${asTable(quoteName(table.table))} LIMIT ${SAMPLED_ROWS}`,
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
  const { table, name: column, full_type: type, characters, collation } = row;
  const distinct = [...new Set(values)];
  const samples = distinct.slice(0, SAMPLES);
  return {
    ...{ schema, table, column, type },
    family: familyOf(row),
    maxLength: characters === null ? null : Number(characters),
    unique: row.isUnique,
    nullable: row.nullable === 'YES',
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

export function familyOf({ type, full_type, isJson }: CatalogRow): ColumnFamily {
  if (isJson) return 'document';
  return /^(tinyint|bit)\(1\)/.test(full_type) ? 'boolean' : (FAMILY_OF_TYPE[type] ?? 'other');
}
