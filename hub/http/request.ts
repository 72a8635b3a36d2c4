import { isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import * as v from 'valibot';
import { itemOf } from '../../src/cloud/contract/problems.ts';
import { type HubRoute, MOST_BODY_BYTES } from '../../src/cloud/contract/route.ts';
import { PARAMETERS } from '../../src/cloud/contract/schemas.ts';
import { readBounded } from '../../src/runtime/read-bounded.ts';
import { isPageToken } from '../database/callers/tokens.ts';
import type { Condition } from '../database/condition.ts';
import type { Hub } from '../hub.ts';
import { Problem } from '../problem.ts';
import { MIN_TOOL } from '../routes/sessions.ts';

// Parses and bounds the parts of a request.

export type HonoContext = Context<{ Bindings: HttpBindings }>;

/** The API is for programs: requests of browser pages are refused. */
export function assertNoBrowser(context: HonoContext): void {
  const site = context.req.header('sec-fetch-site');
  if (context.req.header('origin') === undefined && (site === undefined || site === 'none')) return;
  throw new Problem('not_permitted', 'The API does not serve browser pages');
}

export function assertSupportedTool(context: HonoContext): void {
  const [, version] = /^tool\/(\d+\.\d+\.\d+)/.exec(context.req.header('user-agent') ?? '') ?? [];
  if (version === undefined || version.localeCompare(MIN_TOOL, 'en', { numeric: true }) >= 0) return;
  throw new Problem('tool_too_old', `tool ${version} is too old for this hub, which needs ${MIN_TOOL} or later`, {
    hint: 'Install a newer version of tool.',
    headers: { upgrade: `tool/${MIN_TOOL}` },
  });
}

/**
 * Bytes of a large body that cost as much as a request. The largest delays the next request by 8 s: a client waits for no
 * more than 10 s.
 */
const BYTES_OF_REQUEST = 160 * 1024;

/** Requests that one counts as. To parse and verify a large body occupies the hub for long, and needs many times its length. */
export function costOf(context: HonoContext, { maxBodyBytes = 0, cost = 1 }: HubRoute): number {
  if (maxBodyBytes <= MOST_BODY_BYTES) return cost;
  const length = Number(context.req.header('content-length') ?? maxBodyBytes);
  return cost + Math.floor(Math.min(length, maxBodyBytes) / BYTES_OF_REQUEST);
}

/** Counts each token that is sent, known or not, before any query. */
export function assertRequestRate(token: string, { requests, limits }: Hub, cost = 1): void {
  const seconds = requests.take(token, cost);
  if (seconds === 0) return;
  throw new Problem('cloud_busy', `The token has sent more than ${limits.requests.perSecond} requests a second`, {
    headers: { 'retry-after': String(Math.ceil(seconds)) },
  });
}

const LONGEST_TOKEN = 200;

export function tokenOf(context: HonoContext): string | null {
  const [, token] = /^Bearer ([\w.-]+)$/i.exec(context.req.header('authorization') ?? '') ?? [];
  return token !== undefined && token.length <= LONGEST_TOKEN && !isPageToken(token) ? token : null;
}

/** An invalid name is treated as a missing resource. */
export function parametersOf(context: HonoContext): Record<string, string> {
  const given = context.req.param() as Record<string, string>;
  for (const [key, value] of Object.entries(given)) {
    if (v.is(PARAMETERS[key as keyof typeof PARAMETERS], value)) continue;
    throw new Problem(key === 'snapshot' ? 'snapshot_unknown' : 'cloud_unknown', 'There is no such resource');
  }
  return given;
}

export function queryOf(context: HonoContext): Record<string, string> {
  const given = context.req.queries();
  const twice = Object.entries(given).find(([, values]) => values.length > 1);
  if (twice) throw invalid([{ pointer: `/query/${twice[0]}`, detail: 'must be given once' }]);
  return Object.fromEntries(Object.entries(given).map(([name, [value = '']]) => [name, value]));
}

/** A body that has arrived, or the reason why it is refused. */
interface ReceivedBody {
  /** Throws the reason. */
  text(): string;
}

/** Reads the body; `undefined` for a route without one. Its errors are thrown by `text()`, after the request is permitted. */
export async function receiveBody(context: HonoContext, route: HubRoute): Promise<ReceivedBody | undefined> {
  if (!route.body && !route.textBody) return undefined;
  const most = route.maxBodyBytes ?? MOST_BODY_BYTES;
  const [whole] = await Promise.allSettled([readBody(context, most)]);
  return {
    text() {
      if (whole.status === 'rejected') throw whole.reason;
      try {
        return new TextDecoder('utf-8', { fatal: true }).decode(whole.value);
      } catch {
        throw invalid([{ pointer: '', detail: 'must be valid UTF-8' }]);
      }
    },
  };
}

export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid([{ pointer: '', detail: 'must be valid JSON' }]);
  }
}

/** No more than `most` bytes are read; the connection ends with what is larger. */
async function readBody(context: HonoContext, most: number): Promise<Buffer> {
  const type = context.req.header('content-type') ?? '';
  if (!/^application\/json(;|$)/i.test(type)) {
    throw invalid([{ pointer: '', detail: 'must have the content type application/json' }]);
  }
  const tooLarge = (): Problem =>
    new Problem('cloud_too_large', `The body has more than ${most} bytes`, { headers: { connection: 'close' } });
  if (Number(context.req.header('content-length') ?? 0) > most) throw tooLarge();
  // `context.req.raw.body` would create a second request. The server drains the rest of a body, or closes its connection.
  const body = context.env.incoming.iterator({ destroyOnReturn: false });
  return readBounded(body, most, tooLarge).catch((error) => {
    throw error instanceof Problem ? error : invalid([{ pointer: '', detail: 'did not arrive completely' }]);
  });
}

/** Problems that are named; nothing of the values is repeated, which may be secrets. */
const MOST_ERRORS = 20;

export function parsed(schema: v.GenericSchema, value: unknown, before: string): unknown {
  const result = v.safeParse(schema, value);
  if (result.success) {
    const pointer = arrayForObject(value, result.output);
    if (pointer === null) return result.output;
    throw invalid([{ pointer: before + pointer, detail: 'must be an object' }]);
  }
  const errors = result.issues.slice(0, MOST_ERRORS).map((issue) => ({
    pointer: `${before}${(issue.path ?? []).map(({ key }) => `/${String(key).slice(0, 100)}`).join('')}`,
    detail: /^Invalid /.test(issue.message) ? `must be ${issue.expected ?? 'another value'}` : issue.message,
  }));
  throw invalid(errors);
}

/** Finds the path of an array that valibot accepted as an object without fields. */
function arrayForObject(given: unknown, output: unknown): string | null {
  if (Array.isArray(given) !== Array.isArray(output)) return '';
  if (typeof output !== 'object' || output === null) return null;
  for (const [key, value] of Object.entries(output)) {
    const found = arrayForObject((given as Record<string, unknown>)[key] ?? value, value);
    if (found !== null) return `/${key.slice(0, 100)}${found}`;
  }
  return null;
}

function invalid(errors: { pointer: string; detail: string }[]): Problem {
  const [first] = errors;
  const where = itemOf(first?.pointer ?? '') || 'the body';
  return new Problem('cloud_refused', `The request is not valid: ${where} ${first?.detail}`, { errors });
}

export function conditionOf(context: HonoContext): Condition {
  const match = context.req.header('if-match');
  const none = context.req.header('if-none-match');
  if (none === '*' && match === undefined) return { create: true };
  const [, revision] = /^"(\d{1,15})"$/.exec(match ?? '') ?? [];
  if (revision !== undefined && none === undefined) return { revision: Number(revision) };
  throw new Problem('cloud_condition', 'The request must name the revision that it changes', {
    hint: 'Send If-Match with the ETag of the resource, or If-None-Match: * to create it.',
  });
}

/** Returns the address of the client; a trusted proxy states whose request it forwards. */
export function addressOf(context: HonoContext, { settings: { trustedProxies } }: Hub): string | null {
  const socket = context.env.incoming.socket;
  const isTrusted = (address: string): boolean =>
    isIP(address) !== 0 && trustedProxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const forwarded = (context.req.header('x-forwarded-for') ?? '').split(',').map((part) => part.trim());
  let address = plainAddress(socket.remoteAddress ?? '');
  // Other text comes from the client, or from a proxy that hides the address.
  for (let next = forwarded.pop(); next && isIP(next) !== 0 && isTrusted(address); next = forwarded.pop()) {
    address = plainAddress(next);
  }
  return address === '' ? null : address;
}

function plainAddress(address: string): string {
  return address.replace(/^::ffff:/, '');
}
