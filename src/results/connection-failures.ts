import type { TargetStatus } from './results.ts';

interface FailureLook {
  status: TargetStatus;
  /** The reason in the fewest words, for a list. */
  brief: string;
}

/** Why a database cannot be used, by the code that JSON has for it. */
const FAILURES = {
  database_missing: { status: 'missing', brief: 'no such database' },
  wrong_password: { status: 'denied', brief: 'wrong password' },
  password_missing: { status: 'denied', brief: 'no password given' },
  user_unknown: { status: 'denied', brief: 'no such user' },
  not_permitted: { status: 'denied', brief: 'no right to connect' },
  closed_database: { status: 'denied', brief: 'database is closed' },
  host_not_permitted: { status: 'denied', brief: 'host not permitted' },
  tls_required: { status: 'denied', brief: 'TLS required' },
  not_shared: { status: 'denied', brief: 'not shared with you' },
  denied: { status: 'denied', brief: 'refused' },
  too_many_connections: { status: 'unreachable', brief: 'too many connections' },
  host_unknown: { status: 'unreachable', brief: 'host unknown' },
  connection_refused: { status: 'unreachable', brief: 'connection refused' },
  timed_out: { status: 'unreachable', brief: 'timed out after 5 s' },
  tls_unavailable: { status: 'unreachable', brief: 'TLS not offered' },
  certificate_refused: { status: 'unreachable', brief: 'certificate refused' },
  server_starting: { status: 'unreachable', brief: 'server is starting' },
  unreachable: { status: 'unreachable', brief: 'no answer' },
} satisfies Record<string, FailureLook>;

export type ConnectionFailure = keyof typeof FAILURES;

export function statusOfFailure(failure: ConnectionFailure): TargetStatus {
  return FAILURES[failure].status;
}

/** The reason of a status in the fewest words; `null` for a code that is not of a connection. */
export function briefReason(code: string | null): string | null {
  return code !== null && Object.hasOwn(FAILURES, code) ? FAILURES[code as ConnectionFailure].brief : null;
}
