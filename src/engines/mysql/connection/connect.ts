import { type ConnectionFailure, statusOfFailure } from '../../../results/connection-failures.ts';
import { EXIT, UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl, EngineContext } from '../../engine.ts';
import { ConnectionLost, type MysqlSession, type MysqlSessionOptions, openSession, type SqlError } from './session.ts';
import { addressOf, withDatabase, writeAddress } from './url.ts';

/** A session on the database of the URL; an error of exit 4 says whether server, database or credentials are at fault. */
export async function connect(
  { signal }: Pick<EngineContext, 'signal'>,
  url: DatabaseUrl,
  options: Pick<MysqlSessionOptions, 'several'> = {},
): Promise<MysqlSession> {
  try {
    return await openSession({ url, signal, ...options });
  } catch (thrown) {
    throw explainConnection(thrown, url);
  }
}

/** A session on the server that is on no database. */
export function connectToServer(
  context: Pick<EngineContext, 'signal'>,
  url: DatabaseUrl,
  options: Pick<MysqlSessionOptions, 'several'> = {},
): Promise<MysqlSession> {
  return connect(context, withDatabase(url, null), options);
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

const TOO_MANY: Failure = {
  code: 'too_many_connections',
  message: (url) => `The server of ${url.display} has no free connection slots`,
  hint: 'Close connections, or raise max_connections of the server or of the user. Then try again.',
};

/** By failure, else by the status that the failure gives. */
const ERRORS: Record<string, Failure> = {
  missing: MISSING,
  denied: DENIED,
  unreachable: UNREACHABLE,
  too_many_connections: TOO_MANY,
};

/** The server's numbers. https://mariadb.com/kb/en/mariadb-error-code-reference/ */
const NUMBERS: Record<number, ConnectionFailure> = {
  1040: 'too_many_connections',
  1044: 'not_permitted',
  1045: 'wrong_password',
  1049: 'database_missing',
  1129: 'host_not_permitted',
  1130: 'host_not_permitted',
  1203: 'too_many_connections',
  1226: 'too_many_connections',
  1227: 'denied',
  1251: 'denied',
  1524: 'denied',
  1698: 'wrong_password',
  1862: 'denied',
  3118: 'denied',
  3159: 'tls_required',
  4151: 'denied',
};

/** The codes of Node and of the driver, which stand in their messages. */
const WORDS: [RegExp, ConnectionFailure][] = [
  [/\b(?:ENOTFOUND|EAI_AGAIN)\b/, 'host_unknown'],
  [/\bECONNREFUSED\b/, 'connection_refused'],
  [/\bETIMEDOUT\b/, 'timed_out'],
  [/does not support secure connection/i, 'tls_unavailable'],
  [/certificate/i, 'certificate_refused'],
];

/** What stands against a connection or a database. */
export function failureOf({ errno, message }: ConnectionLost | SqlError): ConnectionFailure {
  const known = errno === null ? undefined : NUMBERS[errno];
  return known ?? WORDS.find(([pattern]) => pattern.test(message))?.[1] ?? 'unreachable';
}

/** What a connection that could not be made means; anything else is handed back as it is. */
export function explainConnection(thrown: unknown, url: DatabaseUrl): unknown {
  if (!(thrown instanceof ConnectionLost)) return thrown;
  const found = failureOf(thrown);
  const failure = ERRORS[found] ?? ERRORS[statusOfFailure(found)] ?? UNREACHABLE;
  return new UserError(failure.message(url), {
    code: failure.code,
    exit: EXIT.unreachable,
    details: [`${writeAddress(addressOf(url))}: ${thrown.message}`],
    hint: failure.hint,
    cause: thrown,
  });
}
