import type { ConnectionFailure } from '../../../results/connection-failures.ts';
import type { ConnectionLost, SqlError } from './session.ts';

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

/** Codes of Node and of the driver, which are part of the message. */
const WORDS: [RegExp, ConnectionFailure][] = [
  [/\b(?:ENOTFOUND|EAI_AGAIN)\b/, 'host_unknown'],
  [/\bECONNREFUSED\b/, 'connection_refused'],
  [/\bETIMEDOUT\b/, 'timed_out'],
  [/does not support secure connection/i, 'tls_unavailable'],
  [/certificate/i, 'certificate_refused'],
];

export function failureOf({ errno, message }: ConnectionLost | SqlError): ConnectionFailure {
  const known = errno === null ? undefined : NUMBERS[errno];
  return known ?? WORDS.find(([pattern]) => pattern.test(message))?.[1] ?? 'unreachable';
}
