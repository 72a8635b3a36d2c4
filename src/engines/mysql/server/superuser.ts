import type { DatabaseUrl, EngineContext } from '../../engine.ts';
import { connectToServer } from '../connection/connect.ts';

/** Global privileges that reach the server's files, its settings or other users. */
const POWERS = ['SUPER', 'FILE', 'CREATE USER', 'SYSTEM_USER', 'SYSTEM_VARIABLES_ADMIN'];

/** Whether the URL's user may do anything on the server, and so may whatever a snapshot holds. */
export async function isSuperuser(context: EngineContext, url: DatabaseUrl): Promise<boolean> {
  await using session = await connectToServer(context, url);
  // Without rights on the server's own tables one sees the privileges of one's own account and roles alone.
  const rows = await session.query<{ privilege: string; grantee: string; account: string }>(
    'SELECT PRIVILEGE_TYPE AS privilege, GRANTEE AS grantee, CURRENT_USER() AS account FROM information_schema.USER_PRIVILEGES',
  );
  return rows.some(
    ({ privilege, grantee, account }) => grantee.replaceAll("'", '') === account && POWERS.includes(privilege),
  );
}
