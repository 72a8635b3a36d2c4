import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connectToServer } from '../connection/connect.ts';
import type { PostgresSession } from '../connection/session.ts';

/** A session that opens while other work goes on, and is closed whether that was awaited or not. */
export function openMeanwhile(
  opening: Promise<PostgresSession>,
): { session: Promise<PostgresSession> } & AsyncDisposable {
  opening.catch(() => {});
  return {
    session: opening,
    [Symbol.asyncDispose]: () => opening.then((session) => session.close()).catch(() => {}),
  };
}

/**
 * Interval of queries in an idle session, in milliseconds: load balancers cut connections that are silent for some
 * minutes.
 */
const HEARTBEAT_MS = 30_000;

/** TCP keep-alives of libpq, in seconds, unless the URL has its own. */
const KEEPALIVES = { keepalives: '1', keepalives_idle: '30', keepalives_interval: '10', keepalives_count: '6' };

/**
 * The session that holds a destination's lock for as long as a load takes, and swaps in the end. It does nothing
 * for hours in between, and must still be there then.
 */
export async function openSwapSession(context: EngineContext, url: DatabaseUrl): Promise<PostgresSession> {
  const session = await connectToServer(
    context,
    { ...url, parameters: { ...KEEPALIVES, ...url.parameters } },
    { settings: { statement_timeout: '0', lock_timeout: '0' } },
  );
  const heartbeat = setInterval(() => void session.execute('SELECT 1').catch(() => {}), HEARTBEAT_MS).unref();
  const close = async (): Promise<void> => {
    clearInterval(heartbeat);
    await session.close();
  };
  return { ...session, close, [Symbol.asyncDispose]: close };
}
