import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connectToServer } from '../connection/connect.ts';

/** Superuser rights also apply to code of a snapshot. */
export async function isSuperuser(context: EngineContext, url: DatabaseUrl): Promise<boolean> {
  await using session = await connectToServer(context, url);
  const [row] = await session.query<{ superuser: boolean }>(
    'SELECT rolsuper AS superuser FROM pg_roles WHERE rolname = current_user',
  );
  return row?.superuser === true;
}
