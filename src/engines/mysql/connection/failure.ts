import type { ConnectionFailure } from '../../../results/configuration/connection-failures.ts';
import type { ConnectionLost, SqlError } from './session-errors.ts';

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

/** Codes of Node and of the driver. */
const CODES: Record<string, ConnectionFailure> = {
  EAI_AGAIN: 'host_unknown',
  ENOTFOUND: 'host_unknown',
  ECONNREFUSED: 'connection_refused',
  ETIMEDOUT: 'timed_out',
  HANDSHAKE_NO_SSL_SUPPORT: 'tls_unavailable',
  MYSQL_CLEAR_PASSWORD_NOT_ENABLED: 'denied',
};

/**
 * The only English that is read of MySQL's side: the driver replaces OpenSSL's code of a certificate by its own.
 * https://github.com/sidorares/node-mysql2/blob/master/lib/commands/client_handshake.js
 */
const CERTIFICATE = /certificate/i;

export function failureOf(error: ConnectionLost | SqlError): ConnectionFailure {
  const known = (error.errno && NUMBERS[error.errno]) || ('code' in error && CODES[error.code ?? '']);
  return known || (CERTIFICATE.test(error.message) ? 'certificate_refused' : 'unreachable');
}
