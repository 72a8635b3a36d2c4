import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { NameWithSize } from '../../../results/results.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { SmallTable, SmallTablesRequest } from '../../facets/connect.ts';
import { connect, connectToServer } from '../connection/connect.ts';
import { asTable, quoteName } from '../connection/quote.ts';
import { detailsOf } from '../details.ts';
import { readNameCase } from './name-case.ts';
import { readSizes, readTableSizes, readTables } from './tables.ts';

const SYSTEM = "'mysql', 'information_schema', 'performance_schema', 'sys'";

export async function listDatabases(context: EngineContext, url: DatabaseUrl): Promise<NameWithSize[]> {
  await using session = await connectToServer(context, url);
  const databases = await session.query<{ name: string }>(
    `SELECT SCHEMA_NAME AS name FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN (${SYSTEM}) ORDER BY 1`,
  );
  const sizes = await readSizes(session, `TABLE_SCHEMA NOT IN (${SYSTEM})`);
  return databases.map(({ name }) => ({ name, size_bytes: sizes.get(name) ?? 0 }));
}

export async function listTables(context: EngineContext, url: DatabaseUrl): Promise<NameWithSize[]> {
  const database = url.database ?? '';
  await using session = await connect(context, url);
  const sizes = await readTableSizes(session, database);
  return [...sizes].map(([name, size_bytes]) => ({ name: `${database}.${name}`, size_bytes }));
}

/** Rows of every table at one instant, by name in the snapshot: the server may use another case. */
export async function countRows(context: EngineContext, { url, manifest }: { url: DatabaseUrl; manifest: Manifest }) {
  const database = url.database ?? '';
  const source = detailsOf(manifest).database;
  await using session = await connect(context, url);
  await session.execute('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
  await session.execute('START TRANSACTION WITH CONSISTENT SNAPSHOT');
  const counts = new Map<string, number>();
  const tables = await readTables(session, database);
  const known = manifest.tables.map(({ name }) => name);
  const named = tables.map(({ name }) => `${source}.${name}`);
  const { fold } = await readNameCase(session, [...known, ...named]);
  const inSnapshot = new Map(known.map((name) => [fold(name), name]));
  for (const { name } of tables) {
    const [row] = await session.query<{ counted: number }>(
      `SELECT COUNT(*) AS counted FROM ${asTable(quoteName(name))}`,
    );
    const path = `${source}.${name}`;
    counts.set(inSnapshot.get(fold(path)) ?? path, Number(row?.counted ?? 0));
  }
  return counts;
}

/** The first column of the first row, in a transaction that only reads. */
export async function readValue(context: EngineContext, { url, select }: { url: DatabaseUrl; select: string }) {
  await using session = await connect(context, url);
  await session.execute('START TRANSACTION READ ONLY');
  const [row] = await session.query<Record<string, unknown>>(`SELECT * FROM (${select}
    ) AS given LIMIT 1`);
  const [value] = Object.values(row ?? {});
  return value === null || value === undefined ? null : String(value);
}

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
      `SELECT ${texts.join(', ')} FROM ${asTable(quoteName(name))} LIMIT ${Number(mostRows) + 1}`,
    );
    if (rows.length > mostRows) continue;
    const path = `${source}.${name}`;
    tables.push({ table: known.get(path.toLowerCase()) ?? path, columns, rows: rows.map((row) => Object.values(row)) });
  }
  return tables;
}
