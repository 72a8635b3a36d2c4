import type { Manifest } from '../../repository/manifest.ts';
import type { DatabaseUrl, EngineContext } from '../engine.ts';
import { connect } from './connection/connect.ts';
import { quoteName } from './connection/session.ts';
import { detailsOf } from './details.ts';
import { readTables } from './introspect.ts';
import { readNameCase } from './name-case.ts';

/**
 * The rows of every table as it is now, at one instant, by the name that it has in the snapshot's source: the server
 * may have another case of it.
 */
export async function countRows(
  context: EngineContext,
  { url, manifest }: { url: DatabaseUrl; manifest: Manifest },
): Promise<Map<string, number>> {
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
    const [row] = await session.query<{ counted: number }>(`SELECT COUNT(*) AS counted FROM ${quoteName(name)}`);
    const path = `${source}.${name}`;
    counts.set(inSnapshot.get(fold(path)) ?? path, Number(row?.counted ?? 0));
  }
  return counts;
}
