import { setTimeout as wait } from 'node:timers/promises';
import * as v from 'valibot';
import { MOST_TEXT_BYTES } from '../repository/store/store.ts';
import { UserError } from '../runtime/errors.ts';
import { readBounded } from '../runtime/read-bounded.ts';
import { isLoopback } from '../text/loopback.ts';
import { parseJsonAs } from '../text/parse-json.ts';
import { printable } from '../text/printable.ts';
import { itemOf, PROBLEMS, type ProblemCode } from './contract/problems.ts';
import type { HubRoute } from './contract/route.ts';
import {
  type AnswerOf,
  type ParametersOf,
  type QueryOf,
  ROUTES,
  type RouteName,
  type SentBodyOf,
} from './contract/routes.ts';
import { problemSchema } from './contract/schemas.ts';

export interface CloudClient {
  /** `https://hub.example.com/api/v3` */
  endpoint: string;
  call<Name extends RouteName>(name: Name, request?: CallOf<Name>): Promise<AnswerResult<Name>>;
  /** The error of an answer that a hub does not give. */
  invalid(reason: string): UserError;
}

interface CallOf<Name extends RouteName> {
  parameters?: ParametersOf<Name>;
  query?: { [Key in keyof QueryOf<Name>]?: string | number | undefined };
  body?: SentBodyOf<Name>;
  /** A change of this revision; `null` creates. */
  revision?: number | null;
  /** ETag of a known answer: `null` is returned instead of the same one. */
  etag?: string | undefined;
}

interface AnswerResult<Name extends RouteName> {
  status: number;
  /** `null` with status 304. */
  body: AnswerOf<Name> | null;
  etag: string | null;
}

export interface CloudClientOptions {
  endpoint: string;
  /** `null` for routes that need none. */
  token: string | null;
  version: string;
  signal: AbortSignal;
  /** After a 401: another token, or `null` when there is none. */
  renew?: () => Promise<string | null>;
  /** Milliseconds for one attempt. */
  timeout?: number;
  /** Attempts; fewer for a list that a cache can replace. */
  attempts?: number;
}

const TIMEOUT = 35_000;
const ATTEMPTS = 5;
const FIRST_DELAY = 250;
const LONGEST_DELAY = 10_000;

/** In one answer of a list: the most that the hub takes. */
const PAGE_ITEMS = 200;

export function createCloudClient(options: CloudClientOptions): CloudClient {
  const { endpoint, version, signal, renew, timeout = TIMEOUT, attempts = ATTEMPTS } = options;
  assertHttps(endpoint);
  let { token } = options;
  let renewing: Promise<string | null> | null = null;

  /** Reports whether a token other than the refused one exists. Concurrent refused requests share one renewal. */
  async function hasOther(refused: string | null): Promise<boolean> {
    if (token !== refused) return true;
    renewing ??= Promise.resolve(renew?.() ?? null).finally(() => {
      renewing = null;
    });
    token = (await renewing) ?? token;
    return token !== refused;
  }

  /** Retries what may pass: every route may be sent again. */
  async function send(route: HubRoute, url: string, init: RequestInit): Promise<Response> {
    const headers = {
      ...(init.headers as Record<string, string>),
      ...(token !== null && route.access !== 'public' && { authorization: `Bearer ${token}` }),
    };
    let reason = '';
    for (let count = 1; count <= attempts; count += 1) {
      let pause = Math.min(FIRST_DELAY * 2 ** (count - 1), LONGEST_DELAY);
      try {
        const ending = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
        const response = await fetch(url, { ...init, headers, redirect: 'error', signal: ending });
        if (response.status !== 429 && response.status < 500) return response;
        pause = pauseOf(response) ?? pause;
        reason = await saidBy(response);
      } catch (error) {
        signal.throwIfAborted();
        reason = reasonOf(error);
      }
      // Sooner than the hub allows is in vain.
      if (pause > LONGEST_DELAY) throw unreachable(endpoint, reason, pause);
      if (count < attempts) await wait(pause, undefined, { signal });
    }
    throw unreachable(endpoint, reason);
  }

  return {
    endpoint,
    invalid: (reason) => notAHub(endpoint, reason),
    async call(name, { parameters, query, body: content, revision, etag } = {}) {
      const route: HubRoute = ROUTES[name];
      const url = `${endpoint}${pathOf(route, parameters)}${searchOf(query)}`;
      const init = initOf(route, { body: content, revision, etag, version });
      const sentToken = token;
      let response = await send(route, url, init);
      if (response.status === 401 && route.access !== 'public' && (await hasOther(sentToken))) {
        await response.body?.cancel();
        response = await send(route, url, init);
      }
      const body = await readBody(response, route, endpoint);
      return { status: response.status, etag: response.headers.get('etag'), body: body as never };
    },
  };
}

/** Parses the body of an answer by the schema of its status; `null` for a status without one. Throws for a refusal. */
async function readBody(response: Response, route: HubRoute, endpoint: string): Promise<unknown> {
  if (response.status === 304) return null;
  if (!response.ok) throw await refusal(response, endpoint);
  const schema = route.answers[response.status];
  if (!schema) {
    await response.body?.cancel();
    return null;
  }
  const parsed = v.safeParse(schema, await jsonOf(response, { endpoint, most: route.maxAnswerBytes }));
  if (!parsed.success) throw notAHub(endpoint, v.getDotPath(parsed.issues[0]) ?? 'the answer');
  return parsed.output;
}

interface SentContent {
  body: unknown;
  revision: number | null | undefined;
  etag: string | undefined;
  version: string;
}

function initOf({ method, textBody }: HubRoute, { body, revision, etag, version }: SentContent): RequestInit {
  const headers = {
    'user-agent': `tool/${version}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(revision === null && { 'if-none-match': '*' }),
    ...(typeof revision === 'number' && { 'if-match': `"${revision}"` }),
    ...(etag !== undefined && { 'if-none-match': etag }),
  };
  return { method, headers, ...(body !== undefined && { body: textBody ? String(body) : JSON.stringify(body) }) };
}

/** A bound: a faulty hub may never end a list. */
const MOST_PAGES = 1000;

/** The pages of a list, in order; `call` gets the query of a page and its number from 0. */
export async function pagesOf<Page extends { next_cursor: string | null }>(
  { endpoint }: Pick<CloudClient, 'endpoint'>,
  call: (query: { limit: number; cursor?: string }, index: number) => Promise<Page>,
): Promise<Page[]> {
  const pages: Page[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await call({ limit: PAGE_ITEMS, ...(cursor !== null && { cursor }) }, pages.length);
    if (pages.push(page) > MOST_PAGES) throw notAHub(endpoint, `a list has more than ${MOST_PAGES} pages`);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return pages;
}

interface Page {
  items: unknown[];
  next_cursor: string | null;
}

type ListName = { [Name in RouteName]: AnswerOf<Name> extends Page ? Name : never }[RouteName];

type ItemOf<Name extends ListName> = Extract<AnswerOf<Name>, Page>['items'][number];

/** All items of a list of the hub, in order. */
export async function listAll<Name extends ListName>(
  client: CloudClient,
  name: Name,
  request: CallOf<Name> = {},
): Promise<ItemOf<Name>[]> {
  const pages = await pagesOf<Page>(client, async (query) => {
    const { body } = await client.call(name, { ...request, query: { ...request.query, ...query } });
    if (body === null) throw client.invalid('the response is empty');
    return body as never;
  });
  return pages.flatMap(({ items }) => items as ItemOf<Name>[]);
}

/** A token is sent over https only, but for a hub on this machine. */
function assertHttps(endpoint: string): void {
  const url = new URL(endpoint);
  if (url.protocol === 'https:' || isLoopback(url)) return;
  throw new UserError('api_url_not_https', `The hub at ${endpoint} is not used: its address is not https`, {
    hint: 'Set an address that begins with https:// (http:// is for a hub on this machine).',
  });
}

function pathOf({ path }: HubRoute, parameters: Record<string, string> = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(parameters[key] ?? ''));
  return filled === '/' ? '' : filled;
}

function searchOf(query: object = {}): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  if (entries.length === 0) return '';
  return `?${new URLSearchParams(Object.fromEntries(entries.map(([key, value]) => [key, String(value)])))}`;
}

/** Bounded: the server may not be a hub. */
async function textOf({ body }: Response, most = MOST_TEXT_BYTES): Promise<string> {
  return (await readBounded(body, most)).toString();
}

async function jsonOf(
  response: Response,
  { endpoint, most }: { endpoint: string; most: number | undefined },
): Promise<unknown> {
  try {
    return JSON.parse(await textOf(response, most));
  } catch {
    throw notAHub(endpoint, 'the response is not JSON');
  }
}

async function problemOf(response: Response) {
  return parseJsonAs(problemSchema, await textOf(response).catch(() => ''));
}

async function saidBy(response: Response): Promise<string> {
  const problem = await problemOf(response);
  return problem
    ? `${problem.detail} (${response.status}, request ${problem.request_id})`
    : `status ${response.status}`;
}

/** Other codes of the hub than those that a user distinguishes. */
const MEANING: Partial<Record<ProblemCode, ProblemCode>> = {
  cloud_changed: 'cloud_conflict',
  cloud_condition: 'cloud_conflict',
};

/** The hub's words, as one of our errors. What comes from elsewhere moves no cursor. */
async function refusal(response: Response, endpoint: string): Promise<UserError> {
  const problem = await problemOf(response);
  const known = problem && Object.hasOwn(PROBLEMS, problem.code) ? (problem.code as ProblemCode) : null;
  if (!problem || known === null) return notAHub(endpoint, `status ${response.status}`);
  const clean = (text: string): string => printable(text).slice(0, 500);
  // An entry of a list has no name: the words of the problem are about it.
  const named = problem.errors.slice(0, 10).filter(({ pointer }) => !/\/\d+$/.test(pointer));
  const told = named.map(({ pointer, detail }) => `${itemOf(pointer)} ${detail}`);
  return new UserError(MEANING[known] ?? known, clean(problem.detail), {
    details: told.filter((text) => !problem.detail.includes(text)).map(clean),
    hint: problem.hint && clean(problem.hint),
  });
}

/** Milliseconds of `Retry-After`; `null` without one in seconds. */
function pauseOf(response: Response): number | null {
  const seconds = response.headers.get('retry-after') ?? '';
  return /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1000 : null;
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return 'timed out';
  return printable(cause?.code ?? cause?.message ?? message).slice(0, 300);
}

function unreachable(endpoint: string, reason: string, pause = 0): UserError {
  return new UserError('cloud_unreachable', `The hub at ${endpoint} cannot be reached`, {
    details: [reason],
    hint:
      pause > 0 ? `Try again in ${pause / 1000} s.` : 'Check base_url and env in the configuration, and the network.',
  });
}

function notAHub(endpoint: string, reason: string): UserError {
  return new UserError('cloud_answer_invalid', `The server at ${endpoint} is not a hub of a supported version`, {
    details: [reason],
    hint: 'Check base_url and env in the configuration.',
  });
}
