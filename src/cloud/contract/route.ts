import type * as v from 'valibot';
import type { Permission } from './schemas.ts';

export const BASE_PATH = '/api/v3';

/** Bytes of a body, unless the route says otherwise. */
export const MOST_BODY_BYTES = 1024 * 1024;

/**
 * Callers of a route: everyone; every caller with a token; a role; callers with this permission on the target of the path
 * (`create`: or with the right to create one), or on that of the build (`claimed`: which they have claimed). `each` is for
 * every signed-in caller, and leaves out targets without the permission. `hub/permissions/access.ts` decides.
 */
export type Access =
  | 'public'
  | 'signed in'
  | 'owner'
  | 'auditor'
  | { target: Permission; create?: true }
  | { build: Permission; claimed?: true }
  | { each: Permission };

export interface HubRoute {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/api/v3`; what is in braces is a parameter. */
  path: string;
  summary: string;
  access: Access;
  query?: v.GenericSchema;
  body?: v.GenericSchema;
  /** The body is a text in a format of its own, which the route parses: a manifest. */
  textBody?: true;
  maxBodyBytes?: number;
  /** Requests that one counts as, where it occupies the hub for longer; default 1. */
  cost?: number;
  /** Bytes of an answer that a client reads; default 64 MB. */
  maxAnswerBytes?: number;
  /** Schemas of successful answers, by status; `null` where there is no body. */
  answers: Record<number, v.GenericSchema | null>;
  /** A change requires the present revision (`If-Match`), a creation `If-None-Match: *`. */
  conditional?: true;
  /** Answers with an ETag, and with 304 where the caller has that already. */
  etag?: true;
}
