import type { ColumnDigest, ColumnFacts } from '../../../sanitize/column-facts.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { type DigestRow, digestsIn } from '../../shared/sanitize/digests.ts';
import { readColumns } from '../catalog/columns.ts';
import { connect } from '../connection/connect.ts';
import { asTable, quoteName, quoteText, tablesIn } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { hashOf, textOf } from './columns.ts';

export async function digestColumns(context: EngineContext, url: DatabaseUrl, columns: ColumnFacts[]) {
  await using session = await connect(context, url);
  const digests = new Map<string, ColumnDigest>();
  const present = await presentColumns(session, url.database ?? '', columns);
  for (const [table, ofTable] of Map.groupBy(present, (column) => column.table)) {
    for (const [name, digest] of await scan(session, table, ofTable)) digests.set(name, digest);
  }
  return digests;
}

async function presentColumns(session: MysqlSession, database: string, columns: ColumnFacts[]): Promise<ColumnFacts[]> {
  const rows = await readColumns(session, tablesIn(database));
  const present = new Set(rows.map(({ table, name }) => JSON.stringify([table, name])));
  return columns.filter(({ table, column }) => present.has(JSON.stringify([table, column])));
}

async function scan(session: MysqlSession, table: string, columns: ColumnFacts[]) {
  const expressions = columns.flatMap(({ column, family, sampleHashes }, index) => {
    const hash = hashOf(textOf(quoteName(column), family));
    const known = sampleHashes.map(quoteText).join(', ');
    return [
      `COUNT(${quoteName(column)}) AS v${index}`,
      `CAST(COALESCE(SUM(CAST(CONV(${hash}, 16, 10) AS UNSIGNED)), 0) AS CHAR) AS d${index}`,
      `${known === '' ? '0' : `COALESCE(SUM(${hash} IN (${known})), 0)`} AS s${index}`,
    ];
  });
  const [row] = await session.query<DigestRow>(`SELECT ${expressions.join(', ')} FROM ${asTable(quoteName(table))}`);
  return digestsIn(row, columns);
}
