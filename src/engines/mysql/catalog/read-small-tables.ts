import type { EngineContext } from '../../engine-context.ts';
import type { SmallTable, SmallTablesRequest } from '../../facets/connect.ts';
import { connect } from '../connection/connect.ts';
import { quoteName } from '../connection/quote.ts';
import { detailsOf } from '../details.ts';
import { readTables } from './tables.ts';

/** Tables of these names, under their names in the snapshot; a table with more rows is left out. */
export async function readSmallTables(
  context: EngineContext,
  { url, manifest, names, mostTables, mostRows, longest }: SmallTablesRequest,
): Promise<SmallTable[]> {
  await using session = await connect(context, url);
  await session.execute('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
  await session.execute('START TRANSACTION WITH CONSISTENT SNAPSHOT');
  const { database: source } = detailsOf(manifest);
  const known = new Map(manifest.tables.map(({ name }) => [name.toLowerCase(), name]));
  const wanted = new Set(names);
  const found = (await readTables(session, url.database ?? '')).filter(({ name }) => wanted.has(name.toLowerCase()));
  const tables: SmallTable[] = [];
  for (const { name, columns: all } of found.slice(0, mostTables)) {
    const columns = all.map((column) => column.name);
    const texts = columns.map(
      (column, at) => `LEFT(CAST(${quoteName(column)} AS CHAR), ${Number(longest)}) AS ${quoteName(`c${at}`)}`,
    );
    const rows = await session.query<Record<string, string | null>>(
      `SELECT ${texts.join(', ')} FROM ${quoteName(name)} LIMIT ${Number(mostRows) + 1}`,
    );
    if (rows.length > mostRows) continue;
    const path = `${source}.${name}`;
    tables.push({ table: known.get(path.toLowerCase()) ?? path, columns, rows: rows.map((row) => Object.values(row)) });
  }
  return tables;
}
