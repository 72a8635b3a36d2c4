import { type ColumnDigest, type ColumnFacts, columnName } from '../../../sanitize/column-facts.ts';
import type { DatabaseUrl, EngineContext } from '../../engine.ts';
import { type DigestRow, digestsIn } from '../../shared/digests.ts';
import { connect } from '../connection/connect.ts';
import { type MysqlSession, quoteName, quoteText, tablesIn } from '../connection/session.ts';
import { hashOf, textOf } from './columns.ts';

/** Digests of columns, one scan a table; columns that a query has dropped have none. */
export async function digestColumns(
  context: EngineContext,
  url: DatabaseUrl,
  columns: ColumnFacts[],
): Promise<Map<string, ColumnDigest>> {
  await using session = await connect(context, url);
  const rows = await session.query<{ table_: string; column_: string }>(`
    SELECT TABLE_NAME AS table_, COLUMN_NAME AS column_ FROM information_schema.COLUMNS
    WHERE ${tablesIn(url.database ?? '')}`);
  const present = new Set(rows.map(({ table_, column_ }) => JSON.stringify([table_, column_])));
  const digests = new Map<string, ColumnDigest>();
  const left = columns.filter(({ table, column }) => present.has(JSON.stringify([table, column])));
  for (const [table, ofTable] of Map.groupBy(left, (column) => column.table)) {
    const scanned = await scan(session, table, ofTable);
    for (const [index, column] of ofTable.entries()) {
      const digest = scanned[index];
      if (digest) digests.set(columnName(column), digest);
    }
  }
  return digests;
}

async function scan(session: MysqlSession, table: string, columns: ColumnFacts[]): Promise<ColumnDigest[]> {
  const expressions = columns.flatMap(({ column, family, sampleHashes }, index) => {
    const hash = hashOf(textOf(quoteName(column), family));
    const known = sampleHashes.map(quoteText).join(', ');
    return [
      `COUNT(${quoteName(column)}) AS v${index}`,
      `CAST(COALESCE(SUM(CAST(CONV(${hash}, 16, 10) AS UNSIGNED)), 0) AS CHAR) AS d${index}`,
      `${known === '' ? '0' : `COALESCE(SUM(${hash} IN (${known})), 0)`} AS s${index}`,
    ];
  });
  const [row] = await session.query<DigestRow>(`SELECT ${expressions.join(', ')} FROM ${quoteName(table)}`);
  return digestsIn(row, columns.length);
}
