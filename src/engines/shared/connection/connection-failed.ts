import { type ConnectionFailure, statusOfFailure } from '../../../results/configuration/connection-failures.ts';
import type { ErrorCode } from '../../../runtime/error-codes.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';

interface Kind {
  code: ErrorCode;
  message: (url: DatabaseUrl) => string;
}

const UNREACHABLE: Kind = {
  code: 'unreachable',
  message: ({ display }) => `Cannot reach the server of ${display}`,
};

const KINDS: Record<string, Kind> = {
  unreachable: UNREACHABLE,
  missing: {
    code: 'database_missing',
    message: ({ database, display }) =>
      database === null
        ? `The URL ${display} names no database, and the default one does not exist`
        : `The database "${database}" does not exist on the server of ${display}`,
  },
  denied: {
    code: 'denied',
    message: ({ display }) => `Access denied by the server of ${display}`,
  },
  too_many_connections: {
    code: 'too_many_connections',
    message: ({ display }) => `The server of ${display} has no free connection slots`,
  },
};

export interface FailedConnection {
  failure: ConnectionFailure;
  details: string[];
  hints: Record<string, string>;
  cause: Error;
}

export function connectionFailed(url: DatabaseUrl, { failure, details, hints, cause }: FailedConnection): UserError {
  const { code, message } = KINDS[failure] ?? KINDS[statusOfFailure(failure)] ?? UNREACHABLE;
  const hint = hints[code] ?? 'Check that the server is running, and the host, the port and the VPN. Then try again.';
  return new UserError(code, message(url), { details, hint, cause });
}
