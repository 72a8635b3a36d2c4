import { randomBytes } from 'node:crypto';
import type { EngineContext } from '../../engine-context.ts';
import { connect } from '../connection/connect.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import { parsePostgresUrl } from '../connection/url.ts';
import type { ThrowAwayServer } from './throw-away-server.ts';

/** Owns the databases of the demo, without access to files and programs of this machine. */
const PLAIN_ROLE = 'tool';

/** Returns the URLs for the role. It bypasses row-level security and may read settings such as the data directory. */
export async function createPlainRole(
  context: EngineContext,
  server: ThrowAwayServer,
): Promise<(database: string) => string> {
  const password = randomBytes(16).toString('hex');
  const role = quoteName(PLAIN_ROLE);
  await using session = await connect(context, parsePostgresUrl(server.url('postgres')));
  await session.transaction([
    `CREATE ROLE ${role} LOGIN NOSUPERUSER CREATEDB BYPASSRLS PASSWORD ${quoteText(password)}`,
    `GRANT pg_read_all_settings TO ${role}`,
  ]);
  return (database) => `postgres://${PLAIN_ROLE}:${password}@127.0.0.1:${server.port}/${encodeURIComponent(database)}`;
}
