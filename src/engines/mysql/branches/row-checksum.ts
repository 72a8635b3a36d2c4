import { type CatalogColumn, type CatalogTable, nonGeneratedColumns } from '../catalog/tables.ts';
import { asTable, quoteName, quotePath } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';

export interface SummedTable extends Pick<CatalogTable, 'columns'> {
  /** The one to compare with: earlier releases made others. */
  checksum: string | null;
}

/**
 * Returns a sum that is equal for equal rows in any order. `CHECKSUM TABLE` does not serve: MariaDB 10.11 has answered differently
 * for an unchanged table with a generated column.
 */
export async function checksumOf(
  session: MysqlSession,
  database: string,
  table: SummedTable & Pick<CatalogTable, 'name'>,
): Promise<string> {
  const [row] = await session.query<{ sum: string }>(
    `SELECT ${checksumExpression(table)} AS sum FROM ${asTable(quotePath(database, table.name))}`,
  );
  return String(row?.sum ?? 0);
}

/**
 * Returns the expression of that sum, for a join with an alias. CRC32 alone is linear: where two rows exchange values, both
 * change by the same bits, and the sum stays in one of 13,000 cases. It costs a third less than with SHA2.
 */
export function checksumExpression({ columns, checksum }: SummedTable, alias?: string): string {
  const values = nonGeneratedColumns({ columns }).map((column) => expressionOf(column, alias));
  const row = `CONCAT_WS(',', ${values.join(', ')})`;
  const isLinear = checksum !== null && /^\d+$/.test(checksum);
  const summed = isLinear ? row : `SHA2(${row}, 256)`;
  const sum = `CAST(COALESCE(SUM(CRC32(${summed})), 0) AS CHAR)`;
  return isLinear ? sum : `CONCAT('sha2 ', ${sum})`;
}

const NUMBERS = new Set(
  'tinyint smallint mediumint int bigint decimal double year date time datetime timestamp'.split(' '),
);
const TEXTS = new Set(
  'char varchar tinytext text mediumtext longtext binary varbinary tinyblob blob mediumblob longblob enum set json uuid inet4 inet6'.split(
    ' ',
  ),
);

function expressionOf({ name, type }: CatalogColumn, alias?: string): string {
  const column = alias === undefined ? quoteName(name) : quotePath(alias, name);
  if (NUMBERS.has(type)) return `COALESCE(${column}, 'n')`;
  // Else the server would round a FLOAT.
  if (type === 'float') return `COALESCE(${column} + 0e0, 'n')`;
  if (type === 'bit') return `COALESCE(${column} + 0, 'n')`;
  const bytes = TEXTS.has(type) ? column : `CAST(${column} AS BINARY)`;
  return `COALESCE(CRC32(${bytes}), 'n')`;
}
