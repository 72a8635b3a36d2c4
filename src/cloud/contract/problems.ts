import type { ErrorCode } from '../../runtime/error-codes.ts';

/** Errors of the hub: its status (RFC 9110) and its title (RFC 9457). */
export const PROBLEMS = {
  cloud_refused: { status: 422, title: 'The request is not valid' },
  cloud_too_large: { status: 413, title: 'The request is too large' },
  signature_invalid: { status: 422, title: 'The signature does not match the manifest' },
  signature_untrusted: { status: 422, title: 'The snapshot is not signed by a trusted key' },
  objects_missing: { status: 422, title: 'Objects of the snapshot are not stored' },
  cloud_token_refused: { status: 401, title: 'The token is not valid' },
  not_permitted: { status: 403, title: 'Not permitted' },
  target_unknown: { status: 404, title: 'There is no such target' },
  snapshot_unknown: { status: 404, title: 'There is no such snapshot' },
  cloud_unknown: { status: 404, title: 'There is no such resource' },
  cloud_method: { status: 405, title: 'The resource has no such method' },
  cloud_conflict: { status: 409, title: 'The resource is in another state' },
  cloud_changed: { status: 412, title: 'The resource was changed in the meantime' },
  cloud_condition: { status: 428, title: 'The request names no revision' },
  tool_too_old: { status: 426, title: 'The client is too old for this hub' },
  cloud_busy: { status: 429, title: 'Too many requests' },
  hub_failed: { status: 500, title: 'The hub failed' },
  cloud_unavailable: { status: 503, title: 'The hub is not available' },
} as const satisfies Partial<Record<ErrorCode, { status: number; title: string }>>;

export type ProblemCode = keyof typeof PROBLEMS;

/** The item of a pointer, for people: `since` of `/query/since`, `objects[2].bytes` of `/objects/2/bytes`; empty for all. */
export function itemOf(pointer: string): string {
  const path = pointer.replace(/^(\/query)?\//, '');
  return path.replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.');
}
