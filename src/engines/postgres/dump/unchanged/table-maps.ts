import { UserError } from '../../../../runtime/errors.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { FIRST_OWN_OID } from '../../catalog/first-own-oid.ts';
import { connect } from '../../connection/connect.ts';
import { quoteNumber } from '../../connection/quote.ts';
import type { PostgresSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import type { TableReads } from '../read-piece.ts';
import { readFreeConnections } from '../rights.ts';
import type { Relation } from './count-rows.ts';
import { LEAST_BYTES } from './read-state.ts';
import { readMapsApart, type VisibilityMaps } from './visibility-maps.ts';

/**
 * Reads the visibility maps of the tables of which evidence may be, outside of a transaction; none where a session keeps
 * one of these locked for longer: the dump, which needs them as well, has the words for that.
 */
export async function readTableMaps(session: PostgresSession): Promise<VisibilityMaps> {
  await session.execute(`SET lock_timeout = '1s'`);
  try {
    return await readMapsOfTables(session);
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    return new Map();
  } finally {
    await session.execute('RESET lock_timeout');
  }
}

async function readMapsOfTables(session: PostgresSession): Promise<VisibilityMaps> {
  const tables = await session.query<Relation>(`
    SELECT c.oid::int8 AS oid, c.relfilenode::int8 AS filenode, n.nspname AS schema, c.relname AS name,
      pg_relation_size(c.oid) / current_setting('block_size')::int8 AS pages
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND c.relpersistence = 'p' AND c.oid >= ${FIRST_OWN_OID} AND pg_relation_size(c.oid) >= ${quoteNumber(LEAST_BYTES)}`);
  return readMapsApart(session, tables);
}

/** Reads them again behind the snapshot of a dump, over a session of its own; none where that could take a needed one's place. */
export async function readLaterMaps(
  context: EngineContext,
  { request: { url, cpus }, session }: Pick<TableReads, 'request' | 'session'>,
): Promise<VisibilityMaps> {
  try {
    if ((await readFreeConnections(session)) <= cpus) return new Map();
    await using own = await connect(context, url);
    return await readTableMaps(own);
  } catch (error) {
    context.signal.throwIfAborted();
    // It saves time only.
    if (error instanceof UserError) return new Map();
    throw error;
  }
}
