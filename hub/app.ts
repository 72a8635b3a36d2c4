import { createHash, randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { BASE_PATH, MOST_BODY_BYTES, ROUTES, type Route, type RouteName } from '../src/cloud/contract/routes.ts';
import { PARAMETERS, type Permission } from '../src/cloud/contract/schemas.ts';
import { toUserError, UserError } from '../src/runtime/errors.ts';
import { type Caller, mayCreateTargets, permissionsOn } from './access.ts';
import { recordEvent } from './database/audit.ts';
import type { Condition } from './database/condition.ts';
import { findTarget, type TargetRow } from './database/targets.ts';
import type { Hub } from './hub.ts';
import type { Metrics } from './metrics.ts';
import { Problem } from './problem.ts';
import { administrationRoutes } from './routes/administration.ts';
import type { Answer, Handlers } from './routes/handler.ts';
import { MIN_TOOL, sessionRoutes } from './routes/sessions.ts';
import { snapshotRoutes } from './routes/snapshots.ts';
import { storageProfileRoutes } from './routes/storage-profiles.ts';
import { targetRoutes } from './routes/targets.ts';

const HANDLERS: Handlers = {
  ...sessionRoutes,
  ...targetRoutes,
  ...snapshotRoutes,
  ...storageProfileRoutes,
  ...administrationRoutes,
};

/** A handler as the pipeline calls it: what it is handed was parsed by the schemas of its route. */
type AnyHandler = (request: object, hub: Hub) => Promise<Answer<unknown>>;

type HonoContext = Context<{ Bindings: HttpBindings }>;

export interface AppOptions {
  hub: Hub;
  metrics: Metrics;
  /** Whether new requests are welcome: not while the instance ends. */
  isReady: () => Promise<boolean>;
}

/** The API of the hub, and `/healthz` and `/readyz`. */
export function createApp({ hub, metrics, isReady }: AppOptions): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get('/healthz', (context) => context.text('ok\n'));
  app.get('/readyz', async (context) =>
    (await isReady()) ? context.text('ready\n') : context.text('not ready\n', 503),
  );
  const paths = new Set<string>();
  for (const [name, route] of Object.entries<Route>(ROUTES)) {
    const path = `${BASE_PATH}${route.path.replace(/\{(\w+)\}/g, ':$1')}`;
    // Clients write the root either way.
    const spellings = route.path === '/' ? [BASE_PATH, path] : [path];
    for (const spelling of spellings) paths.add(spelling);
    app.on(route.method, spellings, (context) => respond(context, { name: name as RouteName, route, hub, metrics }));
  }
  for (const path of paths) {
    app.all(path, () => failed(new Problem('cloud_method', 'The resource has no such method'), hub));
  }
  app.notFound(() => failed(new Problem('cloud_unknown', 'There is no such resource'), hub));
  app.onError((error) => failed(error, hub));
  return app;
}

interface Responding {
  name: RouteName;
  route: Route;
  hub: Hub;
  metrics: Metrics;
}

async function respond(context: HonoContext, { name, route, hub, metrics }: Responding): Promise<Response> {
  const started = performance.now();
  const seen: Seen = { caller: null, requestId: randomUUID() };
  const response = await answer(context, { name, route, hub, seen }).catch((error: unknown) =>
    failed(error, hub, seen),
  );
  const milliseconds = Math.round(performance.now() - started);
  metrics.observe({ route: name, status: response.status, seconds: milliseconds / 1000 });
  hub.log.info('request', {
    request_id: seen.requestId,
    route: name,
    status: response.status,
    ms: milliseconds,
    caller: seen.caller?.id,
    address: addressOf(context, hub),
  });
  return response;
}

/** For the log, and for the answer to an error. */
interface Seen {
  caller: Caller | null;
  requestId: string;
}

interface Answering {
  name: RouteName;
  route: Route;
  hub: Hub;
  seen: Seen;
}

async function answer(context: HonoContext, { name, route, hub, seen }: Answering): Promise<Response> {
  refuseBrowsers(context);
  refuseOldTools(context);
  const token = tokenOf(context);
  const caller = route.access === 'public' ? null : await callerOf(token, hub);
  seen.caller = caller;
  const parameters = parametersOf(context);
  const address = addressOf(context, hub);
  const target = caller ? await permitted({ route, caller, parameters, hub, address }) : null;
  const query = parsed(route.query ?? v.strictObject({}), queryOf(context), '/query');
  const body = await bodyOf(context, route);
  const condition = route.conditional ? conditionOf(context) : null;
  const acceptsCsv = context.req.header('accept')?.startsWith('text/csv') ?? false;
  const request = { parameters, query, body, caller, target, condition, address, acceptsCsv };
  const given = await (HANDLERS[name] as unknown as AnyHandler)(request, hub);
  return written(context, { given, route, requestId: seen.requestId });
}

/** The API is for programs: what a page of another site sends with a browser is none of its requests. */
function refuseBrowsers(context: HonoContext): void {
  const site = context.req.header('sec-fetch-site');
  if (context.req.header('origin') === undefined && (site === undefined || site === 'none')) return;
  throw new Problem('not_permitted', 'The API is not for pages of a browser');
}

function refuseOldTools(context: HonoContext): void {
  const [, version] = /^tool\/(\d+\.\d+\.\d+)/.exec(context.req.header('user-agent') ?? '') ?? [];
  if (version === undefined || version.localeCompare(MIN_TOOL, 'en', { numeric: true }) >= 0) return;
  throw new Problem('tool_too_old', `tool ${version} is too old for this hub, which needs ${MIN_TOOL} or later`, {
    hint: 'Install a newer version of tool.',
    headers: { upgrade: `tool/${MIN_TOOL}` },
  });
}

const LONGEST_TOKEN = 200;

function tokenOf(context: HonoContext): string | null {
  const [, token] = /^Bearer ([\w.-]+)$/i.exec(context.req.header('authorization') ?? '') ?? [];
  return token !== undefined && token.length <= LONGEST_TOKEN ? token : null;
}

async function callerOf(token: string | null, { callers }: Hub): Promise<Caller> {
  const caller = token === null ? null : await callers.find(token);
  if (caller) return caller;
  throw new Problem('cloud_token_refused', 'The token is missing, unknown, expired or revoked', {
    hint: 'Sign in: tool auth login',
    headers: { 'www-authenticate': 'Bearer' },
  });
}

/** A name that cannot be is one that there is not. */
function parametersOf(context: HonoContext): Record<string, string> {
  const given = context.req.param() as Record<string, string>;
  for (const [key, value] of Object.entries(given)) {
    if (v.is(PARAMETERS[key as keyof typeof PARAMETERS], value)) continue;
    throw new Problem(key === 'snapshot' ? 'snapshot_unknown' : 'cloud_unknown', 'There is no such resource');
  }
  return given;
}

interface Permitting {
  route: Route;
  caller: Caller;
  parameters: Record<string, string>;
  hub: Hub;
  address: string | null;
}

/** Whether the caller may call the route; the target that it is about. A refusal is audited. */
async function permitted({ route, caller, parameters, hub, address }: Permitting): Promise<TargetRow | null> {
  const { access } = route;
  const refuse = async (detail: string, hint: string): Promise<never> => {
    const refused = { actor: caller.name, action: `${route.method} ${route.path}`, outcome: 'refused' } as const;
    await recordEvent(hub.db, { ...refused, target: parameters.name ?? null, address });
    throw new Problem('not_permitted', detail, { hint });
  };
  const { ownerGroups, memberGroups, auditorGroups } = hub.settings;
  if (access === 'owner') {
    return caller.role === 'owner' ? null : await refuse('Only owners of the hub may do this', groupsHint(ownerGroups));
  }
  if (access === 'auditor') {
    if (caller.role === 'owner' || caller.auditor) return null;
    return await refuse('Only owners and auditors may read the audit', groupsHint([...ownerGroups, ...auditorGroups]));
  }
  if (access === 'public' || access === 'signed in') return null;
  const name = parameters.name ?? '';
  const target = await findTarget(hub.db, name);
  const permissions: Permission[] = target ? permissionsOn(target, caller) : [];
  if (access === 'create or change') {
    if (target && permissions.length > 0) {
      if (permissions.includes('change')) return target;
    } else if (mayCreateTargets(caller)) return target;
    return await refuse(`You may not change target "${name}"`, groupsHint([...ownerGroups, ...memberGroups]));
  }
  if (!target || !permissions.includes('read')) {
    throw new Problem('target_unknown', `There is no target "${name}", or it is not shared with you`);
  }
  if (permissions.includes(access.target)) return target;
  const groups = target.builder_groups.length > 0 ? target.builder_groups : memberGroups;
  return await refuse(`You may not do this with target "${name}"`, groupsHint([...ownerGroups, ...groups]));
}

/** Which groups would permit it. */
function groupsHint(groups: string[]): string {
  const named = [...new Set(groups)];
  return named.length === 0 ? 'No group permits it.' : `It needs one of the groups: ${named.join(', ')}.`;
}

function queryOf(context: HonoContext): Record<string, string> {
  const given = context.req.queries();
  const twice = Object.entries(given).find(([, values]) => values.length > 1);
  if (twice) throw invalid([{ pointer: `/query/${twice[0]}`, detail: 'must be given once' }]);
  return Object.fromEntries(Object.entries(given).map(([name, [value = '']]) => [name, value]));
}

async function bodyOf(context: HonoContext, route: Route): Promise<unknown> {
  if (!route.body && !route.textBody) return undefined;
  const type = context.req.header('content-type') ?? '';
  if (!/^application\/json(;|$)/i.test(type)) {
    throw invalid([{ pointer: '', detail: 'must have the content type application/json' }]);
  }
  const text = await readBody(context, route.maxBodyBytes ?? MOST_BODY_BYTES);
  if (!route.body) return text;
  return parsed(route.body, parsedJson(text), '');
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid([{ pointer: '', detail: 'must be valid JSON' }]);
  }
}

/** No more than `most` bytes are read; the connection ends with what is larger. */
async function readBody(context: HonoContext, most: number): Promise<string> {
  const tooLarge = (): Problem =>
    new Problem('cloud_too_large', `The body has more than ${most} bytes`, { headers: { connection: 'close' } });
  if (Number(context.req.header('content-length') ?? 0) > most) throw tooLarge();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of context.req.raw.body ?? []) {
    bytes += piece.length;
    if (bytes > most) throw tooLarge();
    pieces.push(piece);
  }
  const whole = Buffer.concat(pieces);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(whole);
  } catch {
    throw invalid([{ pointer: '', detail: 'must be valid UTF-8' }]);
  }
}

/** Problems that are named; nothing of the values is repeated, which may be secrets. */
const MOST_ERRORS = 20;

function parsed(schema: v.GenericSchema, value: unknown, before: string): unknown {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const errors = result.issues.slice(0, MOST_ERRORS).map((issue) => ({
    pointer: `${before}${(issue.path ?? []).map(({ key }) => `/${String(key).slice(0, 100)}`).join('')}`,
    detail: issue.kind === 'schema' ? `must be ${issue.expected ?? 'another value'}` : issue.message,
  }));
  throw invalid(errors);
}

function invalid(errors: { pointer: string; detail: string }[]): Problem {
  const [first] = errors;
  const where = first?.pointer === '' ? 'the body' : first?.pointer;
  return new Problem('cloud_refused', `The request is not valid: ${where} ${first?.detail}`, { errors });
}

function conditionOf(context: HonoContext): Condition {
  const match = context.req.header('if-match');
  const none = context.req.header('if-none-match');
  if (none === '*' && match === undefined) return { create: true };
  const [, revision] = /^"(\d{1,15})"$/.exec(match ?? '') ?? [];
  if (revision !== undefined && none === undefined) return { revision: Number(revision) };
  throw new Problem('cloud_condition', 'The request must name the revision that it changes', {
    hint: 'Send If-Match with the ETag of the resource, or If-None-Match: * to create it.',
  });
}

interface Writing {
  given: Answer<unknown>;
  route: Route;
  requestId: string;
}

function written(context: HonoContext, { given, route, requestId }: Writing): Response {
  const { status = 200, body, revision, text } = given;
  const content = text?.content ?? (body === null ? null : JSON.stringify(body));
  const headers: Record<string, string> = { ...COMMON, 'x-request-id': requestId };
  if (content !== null) headers['content-type'] = text?.type ?? 'application/json';
  // The ETag of a resource is its revision, that of an answer which other things change, too, is of its content.
  if (revision !== undefined) headers.etag = `"${revision}"`;
  else if (route.etag && content !== null) headers.etag = `W/"${hash(content)}"`;
  if (route.etag) headers['cache-control'] = 'private, no-cache';
  const known = context.req.header('if-none-match');
  const unchanged = revision === undefined && route.etag && headers.etag !== undefined && known === headers.etag;
  return unchanged ? new Response(null, { status: 304, headers }) : new Response(content, { status, headers });
}

const COMMON = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

function hash(content: string): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 27);
}

/** Whatever went wrong as an answer (RFC 9457); what only operators may know goes to the log. */
function failed(error: unknown, { log }: Hub, seen?: Seen): Response {
  const requestId = seen?.requestId ?? randomUUID();
  const problem = problemOf(error);
  if (problem.status >= 500) {
    log.error(problem.message, { request_id: requestId, code: problem.code, reason: reasonOf(error) });
  }
  return new Response(JSON.stringify(problem.body(requestId)), {
    status: problem.status,
    headers: {
      ...COMMON,
      'content-type': 'application/problem+json',
      'x-request-id': requestId,
      ...problem.options.headers,
    },
  });
}

/** SQLSTATE classes of what passes: no connection, no resources, an administrator's or a timeout's end of a statement. */
const PASSING = /^(08|53|57|40|25)/;

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
  // A text that is none of the type of its column: a cursor that somebody made up.
  if (code === '22P02' || code === '22007') return new Problem('cloud_refused', 'The request is not valid');
  const isPassing = PASSING.test(code) || /^E[A-Z]+$/.test(code) || /connection|timeout/i.test(message);
  if (isPassing) {
    return new Problem('cloud_unavailable', 'The hub cannot reach its database', {
      headers: { 'retry-after': '2' },
      cause: error,
    });
  }
  return new Problem('hub_failed', 'The hub failed: a defect', { hint: 'The log of the hub has the reason.' });
}

/** No statement and no value: the message of the database or of the code. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Problem ? (error.cause ?? error) : error;
  return toUserError(cause).message.slice(0, 500);
}

/** Of the client; a proxy that is trusted says whose request it forwards. */
function addressOf(context: HonoContext, { settings: { trustedProxies } }: Hub): string | null {
  const socket = context.env.incoming.socket;
  const isTrusted = (address: string): boolean =>
    trustedProxies.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
  const forwarded = (context.req.header('x-forwarded-for') ?? '').split(',').map((part) => part.trim());
  let address = plainAddress(socket.remoteAddress ?? '');
  for (let next = forwarded.pop(); next && isTrusted(address); next = forwarded.pop()) address = next.slice(0, 45);
  return address === '' ? null : address;
}

function plainAddress(address: string): string {
  return address.replace(/^::ffff:/, '');
}
