import type { ConnectionFailure } from '../../../results/configuration/connection-failures.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { ConnectionLost } from './session-errors.ts';

/**
 * The only place that reads English of PostgreSQL's programs: psql reports no SQLSTATE of a connection that fails. The
 * words of libpq are English by `LC_ALL=C`; those of the server may be translated, and then `findFailure` tests it.
 */
const WORDS: [RegExp, ConnectionFailure][] = [
  [/too many clients already|remaining connection slots are reserved|too many connections for/, 'too_many_connections'],
  [/no password supplied/, 'password_missing'],
  [/password authentication failed/, 'wrong_password'],
  [/could not translate host name/, 'host_unknown'],
  [/Connection refused/, 'connection_refused'],
  [/timeout expired|Connection timed out/, 'timed_out'],
  [/server does not support SSL/, 'tls_unavailable'],
  [/certificate verify failed|server certificate|root certificate file/, 'certificate_refused'],
  [/the database system is (?:starting up|shutting down|in recovery|not yet accepting)/, 'server_starting'],
  [/no pg_hba\.conf entry|pg_hba\.conf rejects connection/, 'host_not_permitted'],
  [/permission denied for database/, 'not_permitted'],
  [/is not currently accepting connections/, 'closed_database'],
  [/role "[^"\n]*" does not exist/, 'user_unknown'],
  [/database "[^"\n]*" does not exist/, 'database_missing'],
];

export function failureOf({ message: words }: ConnectionLost, { parameters }: DatabaseUrl): ConnectionFailure | null {
  const found = WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? null;
  // A URL without sslmode=disable has tried TLS already.
  const isPlain = parameters.sslmode === 'disable' && /no encryption|SSL off/.test(words);
  return found === 'host_not_permitted' && isPlain ? 'tls_required' : found;
}

const OF_THE_DATABASE = new Set<ConnectionFailure>([
  'database_missing',
  'host_not_permitted',
  'not_permitted',
  'closed_database',
  'denied',
]);

export function concernsServer(failure: ConnectionFailure, { message }: ConnectionLost): boolean {
  return !OF_THE_DATABASE.has(failure) && !/too many connections for database/.test(message);
}
