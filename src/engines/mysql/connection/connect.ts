import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connectionFailed } from '../../shared/connection/connection-failed.ts';
import { failureOf } from './failure.ts';
import { type MysqlSession, openSession, type SessionOptions } from './session.ts';
import { ConnectionLost } from './session-errors.ts';
import { addressOf, withDatabase, writeAddress } from './url.ts';

/** An error of exit 4 tells whether server, database or credentials are at fault. */
export async function connect(
  { signal }: Pick<EngineContext, 'signal'>,
  url: DatabaseUrl,
  options: Omit<SessionOptions, 'url' | 'signal'> = {},
): Promise<MysqlSession> {
  try {
    return await openSession({ url, signal, ...options });
  } catch (thrown) {
    throw explainConnection(thrown, url);
  }
}

export function connectToServer(
  context: Pick<EngineContext, 'signal'>,
  url: DatabaseUrl,
  options: Omit<SessionOptions, 'url' | 'signal'> = {},
): Promise<MysqlSession> {
  return connect(context, withDatabase(url, null), options);
}

/** Runs work in a session of its own. */
export async function withServer<Result>(
  context: Pick<EngineContext, 'signal'>,
  url: DatabaseUrl,
  work: (server: MysqlSession) => Promise<Result>,
): Promise<Result> {
  await using server = await connectToServer(context, url);
  return await work(server);
}

export function explainConnection(thrown: unknown, url: DatabaseUrl): unknown {
  if (!(thrown instanceof ConnectionLost)) return thrown;
  const details = [`${writeAddress(addressOf(url))}: ${thrown.message}`];
  return connectionFailed(url, { failure: failureOf(thrown), details, hints: HINTS, cause: thrown });
}

const HINTS = {
  database_missing: 'Check the name at the end of the URL; SHOW DATABASES lists those of the server.',
  denied: 'Check user and password of the URL, and whether the server lets this user in from this machine.',
  too_many_connections: 'Close connections, or raise max_connections of the server or of the user. Then try again.',
};
