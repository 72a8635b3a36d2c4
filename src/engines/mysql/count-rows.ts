import type { Manifest } from '../../snapshots/manifest.ts';
import type { DatabaseUrl, EngineContext } from '../engine.ts';
import { readTables } from './catalogue.ts';
import { connect } from './connection/connect.ts';
import { quoteName } from './connection/session.ts';
import { detailsOf } from './details.ts';

/** The rows of every table as it is now, at one instant, by the name that it has in the snapshot's source. */
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
  for (const { name } of await readTables(session, database)) {
    const [row] = await session.query<{ counted: number }>(`SELECT COUNT(*) AS counted FROM ${quoteName(name)}`);
    counts.set(`${source}.${name}`, Number(row?.counted ?? 0));
  }
  return counts;
}
