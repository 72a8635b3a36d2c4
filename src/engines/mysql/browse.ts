import type { Sized } from '../../results.ts';
import type { DatabaseUrl, EngineContext } from '../engine.ts';
import { connect, connectToServer } from './connection/connect.ts';
import { tablesIn } from './connection/session.ts';

/** The databases of the server that one may see, without the server's own. */
export async function listDatabases(context: EngineContext, url: DatabaseUrl): Promise<Sized[]> {
  await using session = await connectToServer(context, url);
  const rows = await session.query<{ name: string; bytes: number | null }>(`
    SELECT s.SCHEMA_NAME AS name, SUM(t.DATA_LENGTH + t.INDEX_LENGTH) AS bytes
    FROM information_schema.SCHEMATA s LEFT JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = s.SCHEMA_NAME
    WHERE s.SCHEMA_NAME NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys')
    GROUP BY s.SCHEMA_NAME ORDER BY s.SCHEMA_NAME`);
  return rows.map(({ name, bytes }) => ({ name, size_bytes: Number(bytes ?? 0) }));
}

/** The tables of the database, named with it. */
export async function listTables(context: EngineContext, url: DatabaseUrl): Promise<Sized[]> {
  const database = url.database ?? '';
  await using session = await connect(context, url);
  const rows = await session.query<{ name: string; bytes: number | null }>(`
    SELECT TABLE_NAME AS name, DATA_LENGTH + INDEX_LENGTH AS bytes FROM information_schema.TABLES
    WHERE ${tablesIn(database)} AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY TABLE_NAME`);
  return rows.map(({ name, bytes }) => ({ name: `${database}.${name}`, size_bytes: Number(bytes ?? 0) }));
}
