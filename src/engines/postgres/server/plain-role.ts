import { randomBytes } from 'node:crypto';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connectToServer } from '../connection/connect.ts';
import { quoteName, quoteText } from '../connection/quote.ts';
import { withUser } from '../connection/url.ts';

/** Owns databases of a throw-away server, without access to files and programs of this machine. */
export const PLAIN_ROLE = 'tool';

/** Returns the URL for the role. It bypasses row-level security and may read settings such as the data directory. */
export async function createPlainRole(context: EngineContext, admin: DatabaseUrl): Promise<DatabaseUrl> {
  const password = randomBytes(16).toString('hex');
  const role = quoteName(PLAIN_ROLE);
  await using session = await connectToServer(context, admin);
  await session.transaction([
    `CREATE ROLE ${role} LOGIN NOSUPERUSER CREATEDB BYPASSRLS PASSWORD ${quoteText(password)}`,
    `GRANT pg_read_all_settings TO ${role}`,
  ]);
  return withUser(admin, { user: PLAIN_ROLE, password });
}
