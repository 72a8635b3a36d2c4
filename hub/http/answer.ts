import { randomUUID } from 'node:crypto';
import type { HubRoute } from '../../src/cloud/contract/route.ts';
import { UserError } from '../../src/runtime/errors.ts';
import type { Hub } from '../hub.ts';
import { reasonOf } from '../log.ts';
import type { Caller } from '../permissions/access.ts';
import { Problem } from '../problem.ts';
import type { Answer } from '../routes/handler.ts';
import { jsonOf } from './json.ts';
import type { HonoContext } from './request.ts';

/** For the log, and for the answer to an error. */
export interface RequestFacts {
  caller: Caller | null;
  address: string | null;
  requestId: string;
}

interface WriteOptions {
  given: Answer<unknown>;
  route: HubRoute;
  requestId: string;
}

export function written(context: HonoContext, { given, route, requestId }: WriteOptions): Response {
  const { status = 200, body, revision, text } = given;
  const json = typeof body === 'object' && body !== null && !text ? jsonOf(body) : null;
  const content = text?.content ?? json?.text ?? null;
  const headers: Record<string, string> = { ...COMMON, 'x-request-id': requestId };
  if (content !== null) headers['content-type'] = text?.type ?? 'application/json';
  // The ETag of a resource is its revision, that of an answer which other things change, too, is of its content.
  if (revision !== undefined) headers.etag = `"${revision}"`;
  else if (route.etag && json) headers.etag = `W/"${json.hash()}"`;
  if (route.etag) headers['cache-control'] = 'private, no-cache';
  const known = context.req.header('if-none-match');
  const unchanged = revision === undefined && route.etag && headers.etag !== undefined && known === headers.etag;
  return unchanged ? new Response(null, { status: 304, headers }) : new Response(content, { status, headers });
}

/** Headers of every answer. */
const COMMON = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Any failure as an answer (RFC 9457). */
export function failed(error: unknown, hub: Hub, seen?: RequestFacts): Response {
  const requestId = seen?.requestId ?? randomUUID();
  const problem = reported(error, hub, requestId);
  const headers = { ...problemHeaders(requestId), ...problem.options.headers };
  return new Response(JSON.stringify(problem.body(requestId)), { status: problem.status, headers });
}

export function problemHeaders(requestId: string): Record<string, string> {
  return { ...COMMON, 'content-type': 'application/problem+json', 'x-request-id': requestId };
}

/** The failure in words for the caller; the reason of a failure of the hub goes to the log only. */
export function reported(error: unknown, { log }: Hub, requestId: string): Problem {
  const problem = problemOf(error);
  if (problem.status >= 500) {
    log.error(problem.message, { request_id: requestId, code: problem.code, ...reasonOf(causeOf(error)) });
  }
  return problem;
}

/** SQLSTATEs of values that no column takes: a forged cursor, a time out of range, U+0000 in a text. */
const REFUSED_VALUES = ['22P02', '22007', '22008', '22021', '22P05'];

/** SQLSTATE classes of temporary failures: connection, resources, statements ended by an administrator or a timeout, files. */
const PASSING = /^(08|53|57|58|40|25)/;

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof UserError) {
    return new Problem('cloud_unavailable', 'The hub cannot use the bucket of the storage profile', {
      hint: 'The log of the hub has the reason.',
      headers: { 'retry-after': '5' },
      cause: error,
    });
  }
  const { code = '', message = '' } = (error ?? {}) as { code?: string; message?: string };
  if (REFUSED_VALUES.includes(code)) return new Problem('cloud_refused', 'The request is not valid');
  const isPassing = PASSING.test(code) || /^E[A-Z]+$/.test(code) || /connection|timeout/i.test(message);
  if (isPassing) {
    const isServer = /^(53|57014|58)/.test(code);
    const detail = isServer ? 'The database of the hub cannot do this at present' : 'The hub cannot reach its database';
    return new Problem('cloud_unavailable', detail, {
      headers: { 'retry-after': '2' },
      cause: error,
    });
  }
  return new Problem('hub_failed', 'The hub failed: a defect', { hint: 'The log of the hub has the reason.' });
}

function causeOf(error: unknown): unknown {
  return error instanceof Problem ? (error.cause ?? error) : error;
}
