import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connectToServer } from '../connection/connect.ts';

const POWERS = ['SUPER', 'FILE', 'CREATE USER', 'SYSTEM_USER', 'SYSTEM_VARIABLES_ADMIN'];

/** Superuser rights also apply to code of a snapshot. */
export async function isSuperuser(context: EngineContext, url: DatabaseUrl): Promise<boolean> {
  await using session = await connectToServer(context, url);
  // Users without rights on `mysql` see their own account and roles only.
  const rows = await session.query<{ privilege: string; grantee: string; account: string }>(
    'SELECT PRIVILEGE_TYPE AS privilege, GRANTEE AS grantee, CURRENT_USER() AS account FROM information_schema.USER_PRIVILEGES',
  );
  return rows.some(
    ({ privilege, grantee, account }) => grantee.replaceAll("'", '') === account && POWERS.includes(privilege),
  );
}
