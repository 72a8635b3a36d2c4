import { tableName } from '../../text/table-names.ts';
import type { DatabaseUrl, EngineContext } from '../engine.ts';
import { connect } from './connection/connect.ts';
import { quoteName } from './connection/session.ts';
import { readTables } from './introspect.ts';

/** The rows of every table of a database, by `schema.table`, at one instant. */
export async function countRows(context: EngineContext, { url }: { url: DatabaseUrl }): Promise<Map<string, number>> {
  await using session = await connect(context, url, { settings: { statement_timeout: '0' } });
  await session.execute('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  const counts = new Map<string, number>();
  for (const { schema, name } of await readTables(session)) {
    const table = `${quoteName(schema)}.${quoteName(name)}`;
    const [counted] = await session.query<{ rows: number }>(`SELECT count(*) AS rows FROM ONLY ${table}`);
    counts.set(tableName(schema, name), counted?.rows ?? 0);
  }
  return counts;
}
