import type { TargetStatus } from '../results.ts';

/** Why a database cannot be used: the codes of JSON, each with the status that it makes. */
const FAILURES = {
  database_missing: 'missing',
  wrong_password: 'denied',
  password_missing: 'denied',
  user_unknown: 'denied',
  not_permitted: 'denied',
  closed_database: 'denied',
  host_not_permitted: 'denied',
  tls_required: 'denied',
  not_shared: 'denied',
  denied: 'denied',
  too_many_connections: 'unreachable',
  host_unknown: 'unreachable',
  connection_refused: 'unreachable',
  timed_out: 'unreachable',
  tls_unavailable: 'unreachable',
  certificate_refused: 'unreachable',
  server_starting: 'unreachable',
  unreachable: 'unreachable',
} satisfies Record<string, TargetStatus>;

export type ConnectionFailure = keyof typeof FAILURES;

export function statusOfFailure(failure: ConnectionFailure): TargetStatus {
  return FAILURES[failure];
}
