import type { DatabaseUrl } from '../../database-url.ts';
import type { Place } from '../../engine.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connectionLost, DISK_FULL_HINT, statementRefused } from '../../shared/connection/explain-errors.ts';
import { linesOf, tryToConnect } from './connect.ts';
import type { PostgresSession } from './session.ts';
import { ConnectionLost, SqlError } from './session-errors.ts';
import { anyClientTools } from './tools.ts';

/** https://www.postgresql.org/docs/current/hot-standby.html#HOT-STANDBY-CONFLICT */
export const STANDBY_HINT =
  'The server is a standby, which ends queries that need rows removed on the primary. Try again, or set hot_standby_feedback = on, or a longer max_standby_streaming_delay, on the standby.';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const DISK_FULL = '53100';

const RIGHTS_HINT =
  'The role probably lacks a privilege: GRANT it, or use another role. docs/postgres.md lists those that are needed.';

export async function withExplainedErrors<Result>({ context, url }: Place, work: () => Promise<Result>) {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ConnectionLost) {
      const hint = (await isStandbyNow(context, url)) ? { hint: STANDBY_HINT } : {};
      throw connectionLost(url, { details: linesOf(cause), ...hint, cause });
    }
    if (!(cause instanceof SqlError)) throw cause;
    const details = [...linesOf(cause), `SQLSTATE ${cause.sqlstate}`];
    throw statementRefused(url, { details, hint: cause.sqlstate === DISK_FULL ? DISK_FULL_HINT : RIGHTS_HINT, cause });
  }
}

export async function isStandby(session: PostgresSession): Promise<boolean> {
  const [row] = await session.query<{ is: boolean }>('SELECT pg_is_in_recovery() AS is');
  return row?.is ?? false;
}

async function isStandbyNow(context: EngineContext, url: DatabaseUrl): Promise<boolean> {
  if (context.signal.aborted) return false;
  const session = await tryToConnect(context, url, { tools: await anyClientTools(context) });
  if (session instanceof ConnectionLost) return false;
  await using open = session;
  return isStandby(open);
}
