import { EXIT, UserError } from '../../../errors.ts';
import type { DatabaseUrl, EngineContext } from '../../engine.ts';
import { ConnectionLost, openSession, type Session } from './session.ts';
import { addressOf, withDatabase, writeAddress } from './url.ts';

/** A session on the database of the URL; an error of exit 4 says whether server, database or credentials are at fault. */
export async function connect({ signal }: Pick<EngineContext, 'signal'>, url: DatabaseUrl): Promise<Session> {
  try {
    return await openSession({ url, signal });
  } catch (thrown) {
    throw explainConnection(thrown, url);
  }
}

/** A session on the server that is on no database. */
export function connectToServer(context: Pick<EngineContext, 'signal'>, url: DatabaseUrl): Promise<Session> {
  return connect(context, withDatabase(url, null));
}

interface Failure {
  code: string;
  message: (url: DatabaseUrl) => string;
  hint: string;
}

const MISSING: Failure = {
  code: 'database_missing',
  message: (url) => `The database "${url.database}" does not exist on the server of ${url.display}`,
  hint: 'Check the name at the end of the URL; SHOW DATABASES lists those of the server.',
};
const DENIED: Failure = {
  code: 'denied',
  message: (url) => `The server refuses the connection to ${url.display}`,
  hint: 'Check user and password of the URL, and whether the server lets this user in from this machine.',
};
const UNREACHABLE: Failure = {
  code: 'unreachable',
  message: (url) => `Cannot reach the server of ${url.display}`,
  hint: 'Is the server running, and host and port right? Is a VPN needed? Then: tool targets',
};

/** The server's numbers. https://mariadb.com/kb/en/mariadb-error-code-reference/ */
const FAILURES: Record<number, Failure> = {
  1044: DENIED,
  1045: DENIED,
  1049: MISSING,
  1129: DENIED,
  1130: DENIED,
  1227: DENIED,
  1251: DENIED,
  1524: DENIED,
  1698: DENIED,
  1862: DENIED,
  3118: DENIED,
  3159: DENIED,
  4151: DENIED,
};

/** What a connection that could not be made means; anything else is handed back as it is. */
export function explainConnection(thrown: unknown, url: DatabaseUrl): unknown {
  if (!(thrown instanceof ConnectionLost)) return thrown;
  const failure = (thrown.errno !== null && FAILURES[thrown.errno]) || UNREACHABLE;
  return new UserError(failure.message(url), {
    code: failure.code,
    exit: EXIT.unreachable,
    details: [`${writeAddress(addressOf(url))}: ${thrown.message}`],
    hint: failure.hint,
    cause: thrown,
  });
}
