import { EXIT, type ExitCode } from '../../runtime/errors.ts';

/** Errors of the hub: its status (RFC 9110), its title (RFC 9457), and what it makes the client end with. */
export const PROBLEMS = {
  cloud_refused: { status: 422, title: 'The request is not valid', exit: EXIT.failed },
  cloud_too_large: { status: 413, title: 'The request is too large', exit: EXIT.failed },
  signature_invalid: { status: 422, title: 'The signature does not match the manifest', exit: EXIT.refused },
  signature_untrusted: { status: 422, title: 'The snapshot is not signed by a trusted key', exit: EXIT.refused },
  objects_missing: { status: 422, title: 'Objects of the snapshot are not stored', exit: EXIT.failed },
  cloud_token_refused: { status: 401, title: 'The token is not valid', exit: EXIT.unreachable },
  not_permitted: { status: 403, title: 'Not permitted', exit: EXIT.refused },
  target_unknown: { status: 404, title: 'There is no such target', exit: EXIT.usage },
  snapshot_unknown: { status: 404, title: 'There is no such snapshot', exit: EXIT.usage },
  cloud_unknown: { status: 404, title: 'There is no such resource', exit: EXIT.usage },
  cloud_method: { status: 405, title: 'The resource has no such method', exit: EXIT.failed },
  cloud_conflict: { status: 409, title: 'The resource is in another state', exit: EXIT.failed },
  cloud_changed: { status: 412, title: 'The resource was changed in the meantime', exit: EXIT.failed },
  cloud_condition: { status: 428, title: 'The request names no revision', exit: EXIT.failed },
  tool_too_old: { status: 426, title: 'The client is too old for this hub', exit: EXIT.failed },
  cloud_busy: { status: 429, title: 'Too many requests', exit: EXIT.unreachable },
  hub_failed: { status: 500, title: 'The hub failed', exit: EXIT.unreachable },
  cloud_unavailable: { status: 503, title: 'The hub is not available', exit: EXIT.unreachable },
} as const satisfies Record<string, { status: number; title: string; exit: ExitCode }>;

export type ProblemCode = keyof typeof PROBLEMS;
