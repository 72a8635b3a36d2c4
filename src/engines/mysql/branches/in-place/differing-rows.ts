import { nonGeneratedColumns } from '../../catalog/generated-columns.ts';
import type { CatalogColumn, CatalogTable } from '../../catalog/tables.ts';
import { quoteName, quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { countRows } from '../../restore/only-rows/references.ts';

export interface ComparedTable extends Pick<CatalogTable, 'name' | 'columns' | 'key'> {
  /** Database of the base copy, and the destination. */
  base: string;
  destination: string;
  /** Rows of the base copy. */
  rows: number;
  /** Its place among the tables: LOCK TABLES takes no alias twice. */
  at: number;
}

export function aliasesOf({ at }: Pick<ComparedTable, 'at'>): { b: string; d: string } {
  return { b: `b${Number(at)}`, d: `d${Number(at)}` };
}

export interface TableChanges {
  table: ComparedTable;
  delete: number;
  insert: number;
}

/** Keys of the rows that differ; only the session sees it. */
const touchedOf = ({ name }: ComparedTable): string => quoteName(`tool-touched-${name}`.slice(0, 64));

/**
 * Finds the rows that differ from those of the base copy, value by value, in a temporary table of the session. The server
 * joins both tables by their primary key, so that no sum has to tell two values apart.
 */
export async function findDifferingRows(session: MysqlSession, table: ComparedTable): Promise<TableChanges> {
  const { name, key, base } = table;
  const touched = touchedOf(table);
  const own = key.map((column, at) => `${quoteName(column)} AS k${at}`).join(', ');
  await session.execute(`DROP TEMPORARY TABLE IF EXISTS ${touched}`);
  await session.execute(
    `CREATE TEMPORARY TABLE ${touched} (place BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY) SELECT ${own}, 0 AS is_new FROM ${quotePath(base, name)} LIMIT 0`,
  );
  return await fillDifferingRows(session, table);
}

/** The same with the table that is there, as under locks. */
export async function fillDifferingRows(session: MysqlSession, table: ComparedTable): Promise<TableChanges> {
  const { name, key, base, destination, rows } = table;
  const alias = aliasesOf(table);
  const [b, d] = [`${quotePath(base, name)} ${alias.b}`, `${quotePath(destination, name)} ${alias.d}`];
  const touched = touchedOf(table);
  const columns = key.map((_, at) => `k${at}`).join(', ');
  const keyOf = (from: string): string => key.map((column) => `${from}.${quoteName(column)}`).join(', ');
  const isSame = key.map((column) => `${alias.d}.${quoteName(column)} = ${alias.b}.${quoteName(column)}`).join(' AND ');
  const [first = ''] = key;
  const isMissing = (from: string): string => `${from}.${quoteName(first)} IS NULL`;
  const equal = nonGeneratedColumns(table)
    .map((column) => equality(column, alias))
    .join(' AND ');
  await session.execute(`DELETE FROM ${touched}`);
  const missing = await session.execute(
    `INSERT INTO ${touched} (${columns}, is_new) SELECT ${keyOf(alias.b)}, 0 FROM ${b} LEFT JOIN ${d} ON ${isSame} WHERE ${isMissing(alias.d)} OR NOT (${equal})`,
  );
  const present = await countRows(session, `SELECT COUNT(*) AS amount FROM ${d}`);
  const gone = missing.rows === 0 ? 0 : await countRows(session, goneQuery(table));
  // Each other row of the base copy has exactly one of its key.
  const fresh =
    present === rows - gone
      ? 0
      : (
          await session.execute(
            `INSERT INTO ${touched} (${columns}, is_new) SELECT ${keyOf(alias.d)}, 1 FROM ${d} LEFT JOIN ${b} ON ${isSame} WHERE ${isMissing(alias.b)}`,
          )
        ).rows;
  return { table, delete: fresh + missing.rows - gone, insert: missing.rows };
}

function goneQuery(table: ComparedTable): string {
  const { name, key, destination } = table;
  const { d } = aliasesOf(table);
  const isSame = key.map((column, at) => `${d}.${quoteName(column)} = s.k${at}`).join(' AND ');
  const [first = ''] = key;
  return `SELECT COUNT(*) AS amount FROM ${touchedOf(table)} s LEFT JOIN ${quotePath(destination, name)} ${d} ON ${isSame} WHERE ${d}.${quoteName(first)} IS NULL`;
}

/** Replaces the rows that were found by those of the base copy, in the transaction of the session; rejects when others are there. */
export async function replaceDifferingRows(session: MysqlSession, changes: TableChanges): Promise<void> {
  const { table } = changes;
  const { name, key, base, destination, rows } = table;
  const alias = aliasesOf(table);
  const [b, d] = [`${quotePath(base, name)} ${alias.b}`, `${quotePath(destination, name)} ${alias.d}`];
  const touched = `${touchedOf(table)} s`;
  const sameAs = (from: string): string =>
    key.map((column, at) => `${from}.${quoteName(column)} = s.k${at}`).join(' AND ');
  const columns = nonGeneratedColumns(table).map((column) => quoteName(column.name));
  const deleted = await session.execute(`DELETE ${alias.d} FROM ${touched} STRAIGHT_JOIN ${d} ON ${sameAs(alias.d)}`);
  const inserted = await session.execute(
    `INSERT INTO ${quotePath(destination, name)} (${columns.join(', ')}) SELECT ${columns.map((column) => `${alias.b}.${column}`).join(', ')} FROM ${touched} STRAIGHT_JOIN ${b} ON ${sameAs(alias.b)} WHERE s.is_new = 0`,
  );
  const present = await countRows(session, `SELECT COUNT(*) AS amount FROM ${d}`);
  if (deleted.rows === changes.delete && inserted.rows === changes.insert && present === rows) return;
  throw new Error(
    `${name}: ${deleted.rows} rows deleted of ${changes.delete}, ${inserted.rows} inserted of ${changes.insert}, ${present} present of ${rows}`,
  );
}

const NUMBERS = new Set(
  'tinyint smallint mediumint int bigint decimal bit year date time datetime timestamp'.split(' '),
);

/** Byte by byte: by its collation, `a` may equal `A`, and 0 equals -0. */
function equality({ name, type }: CatalogColumn, alias: { b: string; d: string }): string {
  const [b, d] = [`${alias.b}.${quoteName(name)}`, `${alias.d}.${quoteName(name)}`];
  if (NUMBERS.has(type)) return `${b} <=> ${d}`;
  if (type === 'float' || type === 'double') return `${b} <=> ${d} AND CONCAT(${b}) <=> CONCAT(${d})`;
  const bytes = `CAST(${b} AS BINARY) <=> CAST(${d} AS BINARY)`;
  // An invalid member has the text of an empty one.
  return type === 'enum' || type === 'set' ? `${b} + 0 <=> ${d} + 0 AND ${bytes}` : bytes;
}
