import type { ConnectionFailure } from '../../../results/configuration/connection-failures.ts';
import type { ConnectionLost, SqlError } from './session-errors.ts';

/** The server's numbers. https://mariadb.com/kb/en/mariadb-error-code-reference/ */
const NUMBERS: [ConnectionFailure, number[]][] = [
  ['too_many_connections', [1040, 1203, 1226]],
  ['not_permitted', [1044]],
  ['wrong_password', [1045, 1698]],
  ['database_missing', [1049]],
  ['host_not_permitted', [1129, 1130]],
  ['tls_required', [3159]],
  ['denied', [1227, 1251, 1524, 1862, 3118, 4151]],
];

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
  const numbered = NUMBERS.find(([, numbers]) => numbers.includes(error.errno ?? 0))?.[0];
  const known = numbered ?? ('code' in error && CODES[error.code ?? '']);
  return known || (CERTIFICATE.test(error.message) ? 'certificate_refused' : 'unreachable');
}
