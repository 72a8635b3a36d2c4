import { type CatalogColumn, type CatalogTable, nonGeneratedColumns } from '../../catalog/tables.ts';
import { asTable, quoteName, quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { countRows } from '../../restore/only-rows/references.ts';
import { checksumExpression } from '../row-checksum.ts';

export interface ComparedTable extends Pick<CatalogTable, 'name' | 'columns' | 'key'> {
  /** Database of the base copy, and the one to reset. */
  base: string;
  database: string;
  /** By the record of the base copy. */
  rows: number;
  checksum: string | null;
  /** Its place among the tables: LOCK TABLES takes no alias twice. */
  at: number;
}

export interface TableChanges {
  table: ComparedTable;
  delete: number;
  insert: number;
}

export interface ComparedRows extends TableChanges {
  /** Both tables have the rows of the record. */
  isEqual: boolean;
}

/** Names what a comparison and an exchange of rows read and write, for LOCK TABLES. */
export function locksOf(table: ComparedTable): string[] {
  const { base, database, name } = table;
  const { b, d } = aliasesOf(table);
  const [own, other] = [quotePath(database, name), quotePath(base, name)];
  return [`${own} WRITE`, `${own} AS ${d} WRITE`, `${other} READ`, `${other} AS ${b} READ`];
}

function aliasesOf({ at }: ComparedTable): { b: string; d: string } {
  return { b: `b${Number(at)}`, d: `d${Number(at)}` };
}

/** Counts the rows that only one of the two tables has, in one pass over both. */
export async function countDifferingRows(session: MysqlSession, table: ComparedTable): Promise<ComparedRows> {
  const { name, base, database, rows, checksum } = table;
  const { b, d } = aliasesOf(table);
  const [own, other] = [quotePath(database, name), quotePath(base, name)];
  const [equal] = await session.query<{ amount: number | string; sum: string }>(
    `SELECT COUNT(*) AS amount, ${checksumExpression(table, b)} AS sum FROM ${asTable(other, b)} STRAIGHT_JOIN ${asTable(own, d)}
     ON ${sameKey(table, b, d)} AND ${sameValues(table, b, d)}`,
  );
  const amount = Number(equal?.amount ?? 0);
  const present = await countRows(session, `SELECT COUNT(*) AS amount FROM ${asTable(own)}`);
  const isEqual = amount === rows && present === rows && String(equal?.sum) === checksum;
  return { table, delete: present - amount, insert: Math.max(0, rows - amount), isEqual };
}

/**
 * Deletes the rows that the base copy does not have, then inserts those that are missing, in the transaction of the
 * session. NOT EXISTS, since by IS NULL the server also finds the date 0.
 */
export async function exchangeDifferingRows(session: MysqlSession, table: ComparedTable): Promise<TableChanges> {
  const { name, base, database, rows } = table;
  const { b, d } = aliasesOf(table);
  const [own, other] = [quotePath(database, name), quotePath(base, name)];
  const same = `${sameKey(table, b, own)} AND ${sameValues(table, b, own)}`;
  const deleted = await session.execute(
    `DELETE FROM ${own} WHERE NOT EXISTS (SELECT 1 FROM ${asTable(other, b)} WHERE ${same})`,
  );
  const count = (): Promise<number> => countRows(session, `SELECT COUNT(*) AS amount FROM ${asTable(own)}`);
  // All that are left are rows of the base copy.
  if ((await count()) === rows) return { table, delete: deleted.rows, insert: 0 };
  const inserted = await session.execute(
    `${insertOf(table)} WHERE NOT EXISTS (SELECT 1 FROM ${asTable(own, d)} WHERE ${sameKey(table, b, d)})`,
  );
  const present = await count();
  if (present !== rows) throw new Error(`${name}: ${present} rows are there, and ${rows} were to be`);
  return { table, delete: deleted.rows, insert: inserted.rows };
}

function insertOf(table: ComparedTable): string {
  const { name, base, database } = table;
  const { b } = aliasesOf(table);
  const columns = nonGeneratedColumns(table).map((column) => quoteName(column.name));
  const values = columns.map((column) => `${b}.${column}`).join(', ');
  return `INSERT INTO ${quotePath(database, name)} (${columns.join(', ')}) SELECT ${values} FROM ${asTable(quotePath(base, name), b, 'FORCE INDEX (PRIMARY)')}`;
}

/**
 * Writes one row as it is: a server that was started since the last write knows a time of it again, so that later resets
 * need not read the table.
 */
export async function writeAgain(session: MysqlSession, table: ComparedTable): Promise<void> {
  const first = `ORDER BY ${table.key.map(quoteName).join(', ')} LIMIT 1`;
  const deleted = await session.execute(`DELETE FROM ${quotePath(table.database, table.name)} ${first}`);
  const inserted = await session.execute(`${insertOf(table)} ${first}`);
  if (deleted.rows !== inserted.rows) throw new Error(`${table.name}: a row is not there again`);
}

function sameKey({ key }: ComparedTable, b: string, d: string): string {
  return key.map((column) => `${b}.${quoteName(column)} = ${d}.${quoteName(column)}`).join(' AND ');
}

function sameValues(table: ComparedTable, b: string, d: string): string {
  return nonGeneratedColumns(table)
    .map(
      ({ name, type }) =>
        `(${COMPARISONS[kindOf(type) ?? 'text'](`${b}.${quoteName(name)}`, `${d}.${quoteName(name)}`)})`,
    )
    .join(' AND ');
}

const KINDS = {
  exact:
    'tinyint smallint mediumint int bigint decimal bit year date time datetime timestamp binary varbinary tinyblob blob mediumblob longblob uuid inet4 inet6',
  float: 'float double',
  text: 'char varchar tinytext text mediumtext longtext geometry point linestring polygon multipoint multilinestring multipolygon geomcollection geometrycollection',
  member: 'enum set',
  json: 'json',
};

type Kind = keyof typeof KINDS;

/**
 * By its collation `a` may equal `A`, and 0 equals -0. A longer value than a packet is NULL as BINARY, so that it is never
 * found equal, and replaced. An invalid member has the text of an empty one. JSON has texts that dates and strings share.
 */
const COMPARISONS: Record<Kind, (b: string, d: string) => string> = {
  exact: (b, d) => `${b} <=> ${d}`,
  float: (b, d) => `${b} <=> ${d} AND CONCAT(${b}) <=> CONCAT(${d})`,
  text: sameBytes,
  member: (b, d) => `${b} + 0 <=> ${d} + 0 AND ${sameBytes(b, d)}`,
  json: (b, d) => `${b} <=> ${d} AND ${sameBytes(b, d)}`,
};

function sameBytes(b: string, d: string): string {
  return `((${b} IS NULL AND ${d} IS NULL) OR CAST(${b} AS BINARY) = CAST(${d} AS BINARY))`;
}

function kindOf(type: string): Kind | undefined {
  return (Object.keys(KINDS) as Kind[]).find((kind) => KINDS[kind].split(' ').includes(type));
}

/** Returns a column whose values cannot be compared. */
export function incomparableColumn({ columns }: Pick<CatalogTable, 'columns'>): CatalogColumn | undefined {
  return nonGeneratedColumns({ columns }).find(({ type }) => kindOf(type) === undefined);
}
