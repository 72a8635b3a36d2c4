import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { AffectedDatabase } from '../../facets/connect.ts';
import { type DatabaseIdentity, STARTED } from '../../identity.ts';
import { auxiliaryNames } from '../server/server.ts';
import { connect, connectToServer, MAINTENANCE_DATABASES } from './connect.ts';
import { quoteText } from './quote.ts';
import type { PostgresSession } from './session.ts';
import { SqlError } from './session-errors.ts';

export async function identifyAffected(context: EngineContext, url: DatabaseUrl): Promise<AffectedDatabase[]> {
  await using session = await connect(context, url).catch((thrown) => {
    // A missing destination may have an undo copy.
    const isClosed = thrown instanceof UserError && ['database_missing', 'denied'].includes(thrown.code);
    if (!isClosed || url.database === null) throw thrown;
    return connectToServer(context, url);
  });
  const signs = await readServerIdentity(session);
  const destination = url.database ?? signs.database;
  const { prefix, undo, base, spare } = auxiliaryNames(destination);
  // Behind a proxy the database may have another name.
  const own = MAINTENANCE_DATABASES.includes(signs.database) ? destination : signs.database;
  const names = [destination, own, undo, base, spare].map(quoteText).join(', ');
  const rows = await session.query<{ name: string; oid: number }>(`
    SELECT datname AS name, oid::int8 AS oid FROM pg_database
    WHERE datname IN (${names}) OR starts_with(datname, ${quoteText(prefix)})
    ORDER BY datname <> ${quoteText(own)}, datname`);
  return rows.map((row) => ({ name: row.name, identity: identityOf(signs, row) }));
}

export interface ServerIdentity {
  version: string;
  database: string;
  /** Equal on primary and standbys; `null` where the server does not tell. */
  system: string | null;
  started: string;
  port: number;
  address: string | null;
}

const SIGNS = `current_database() AS database, split_part(current_setting('server_version'), ' ', 1) AS version,
  extract(epoch FROM pg_postmaster_start_time())::text AS started,
  current_setting('port')::int AS port, host(inet_server_addr()) AS address`;

export async function readServerIdentity(session: PostgresSession): Promise<ServerIdentity> {
  const [signs] = await session
    .query<ServerIdentity>(`SELECT ${SIGNS}, (SELECT system_identifier::text FROM pg_control_system()) AS system`)
    .catch((error) => {
      if (!(error instanceof SqlError)) throw error;
      // Some hosting services revoke the function.
      return session.query<ServerIdentity>(`SELECT ${SIGNS}, NULL AS system`);
    });
  if (!signs) throw new Error('the server said nothing of itself');
  return signs;
}

/** Reads the identity of the session's own database. */
export async function readIdentity(session: PostgresSession, signs: ServerIdentity): Promise<DatabaseIdentity> {
  const [row] = await session.query<{ oid: number }>(
    'SELECT oid::int8 AS oid FROM pg_database WHERE datname = current_database()',
  );
  if (!row) throw new Error('pg_database has no row for the database of the session');
  return identityOf(signs, { name: signs.database, oid: row.oid });
}

export function identityOf(
  { system, started }: Pick<ServerIdentity, 'system' | 'started'>,
  { name, oid }: { name: string; oid: number },
): DatabaseIdentity {
  return {
    servers: [...(system === null ? [] : [`system:${system}`]), `${STARTED}${started}`],
    // The name too: a database that is dropped and created again has a new oid.
    databases: [`oid:${oid}`, `name:${name}`],
  };
}
