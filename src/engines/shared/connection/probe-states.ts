import { type ConnectionFailure, statusOfFailure } from '../../../results/configuration/connection-failures.ts';
import type { Probe } from '../../facets/connect.ts';

export const SIZES_AT_ONCE = 50;

export const UNKNOWN = { latency_ms: null, server_version: null, size_bytes: null, error: null, error_code: null };

export function failedProbe(failure: ConnectionFailure, error: string): Probe {
  const state = { ...UNKNOWN, status: statusOfFailure(failure), error: error || failure, error_code: failure };
  return { state, identity: null };
}
