import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connect, connectToServer } from '../connection/connect.ts';

/** Superuser rights also apply to code of a snapshot. */
export function isSuperuser(context: EngineContext, url: DatabaseUrl): Promise<boolean> {
  return ask(context, url, 'SELECT rolsuper AS answer FROM pg_roles WHERE rolname = current_user');
}

/** Reports whether the role may use files or programs of the server, or grant itself a role that may. */
export function reachesServer(context: EngineContext, url: DatabaseUrl): Promise<boolean> {
  return ask(
    context,
    url,
    `SELECT bool_or(rolname = current_user AND (rolsuper OR rolcreaterole)
       OR rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files')
         AND pg_has_role(oid, 'MEMBER')) AS answer FROM pg_roles`,
  );
}

async function ask(context: EngineContext, url: DatabaseUrl, query: string): Promise<boolean> {
  // A role may be allowed to connect to the destination only.
  await using session = await connectToServer(context, url).catch((thrown) => {
    if (!(thrown instanceof UserError) || thrown.code === 'unreachable') throw thrown;
    return connect(context, url);
  });
  const [row] = await session.query<{ answer: boolean }>(query);
  return row?.answer === true;
}
