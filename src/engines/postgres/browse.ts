import type { Sized } from '../../results.ts';
import type { DatabaseUrl, EngineContext } from '../engine.ts';
import { readSchemas, readTables } from './catalogue.ts';
import { connect, connectToServer } from './connection/connect.ts';

/** The databases of the server that one may connect to, without those that a run of ours keeps for itself. */
export async function listDatabases(context: EngineContext, url: DatabaseUrl): Promise<Sized[]> {
  await using session = await connectToServer(context, url);
  return session.query<Sized>(`
    SELECT datname AS name, pg_database_size(oid) AS size_bytes FROM pg_database
    WHERE datallowconn AND NOT datistemplate AND has_database_privilege(oid, 'CONNECT') AND datname !~ '[.]tool-'
    ORDER BY datname`);
}

/** The user's schemas of the database, each with the size of its tables. */
export async function listSchemas(context: EngineContext, url: DatabaseUrl): Promise<Sized[]> {
  await using session = await connect(context, url);
  const schemas = await readSchemas(session);
  const tables = await readTables(session);
  return schemas.map(({ name }) => ({
    name,
    size_bytes: tables.reduce((sum, table) => sum + (table.schema === name ? table.bytes : 0), 0),
  }));
}
