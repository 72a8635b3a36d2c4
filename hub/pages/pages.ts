import { timingSafeEqual } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { recordEvent } from '../database/audit.ts';
import { hashOf, isPageToken } from '../database/callers/tokens.ts';
import { failed, type RequestFacts, reported } from '../http/answer.ts';
import { observed } from '../http/observed.ts';
import { assertRequestRate, type HonoContext } from '../http/request.ts';
import type { Hub } from '../hub.ts';
import type { Metrics } from '../metrics.ts';
import { type Caller, decide } from '../permissions/access.ts';
import { Problem } from '../problem.ts';
import { limitedSignIn } from '../routes/sessions.ts';
import { auditCsv, auditPage } from './audit.ts';
import { cookieHeader, readCookie } from './cookies.ts';
import { layout } from './layout.ts';
import { overviewPage } from './overview.ts';
import type { PageAnswer, PageRequest, PermittedRequest } from './page.ts';
import { createPagesProvider, type PagesProvider } from './provider.ts';
import { beginSignIn, endSignIn, nextPage, signInOnce, signInPage, signOut } from './sign-in.ts';
import { type Site, siteOf } from './site.ts';
import { STYLE, STYLE_PATH } from './style.ts';

export interface PagesOptions {
  hub: Hub;
  metrics: Metrics;
  /** Code of a trial that signs in once. */
  trialCode: string | null;
}

type Page =
  | {
      method?: 'POST';
      path: string;
      access: 'public';
      answer: (request: PageRequest) => Promise<PageAnswer> | PageAnswer;
    }
  /** Owners and auditors. */
  | { path: string; access: 'auditor'; answer: (request: PermittedRequest) => Promise<PageAnswer> };

/** The pages of owners and auditors: they show, and change nothing but the session. */
export function mountPages(app: Hono<{ Bindings: HttpBindings }>, { hub, metrics, trialCode }: PagesOptions): void {
  const provider = createPagesProvider(hub.settings);
  const codes = new Set(trialCode === null ? [] : [trialCode]);
  for (const [name, page] of Object.entries(pagesOf({ provider, codes }))) {
    const method = 'method' in page && page.method ? page.method : 'GET';
    app.on(method, page.path, (context) =>
      observed(context, { route: `page ${name}`, hub, metrics }, (seen) => respond(context, { page, hub, seen })),
    );
    app.all(page.path, () => failed(new Problem('cloud_method', 'The page has no such method'), hub));
  }
}

export function pagesOf({
  provider,
  codes,
}: {
  provider: PagesProvider | null;
  codes: Set<string>;
}): Record<string, Page> {
  const withProvider =
    (answer: (request: PageRequest, provider: PagesProvider) => Promise<PageAnswer>) => (request: PageRequest) =>
      provider === null ? Promise.resolve(signInPage(request, { next: '/', status: 404 })) : answer(request, provider);
  return {
    overview: { path: '/', access: 'auditor', answer: overviewPage },
    audit: { path: '/audit', access: 'auditor', answer: auditPage },
    auditCsv: { path: '/audit.csv', access: 'auditor', answer: auditCsv },
    signIn: { path: '/sign-in', access: 'public', answer: (request) => signInPage(request, { next: '/' }) },
    beginSignIn: { path: '/sign-in/start', access: 'public', answer: withProvider(beginSignIn) },
    endSignIn: { path: '/sign-in/callback', access: 'public', answer: limited(withProvider(endSignIn)) },
    signInOnce: { path: '/sign-in/once', access: 'public', answer: limited((request) => takeCode(request, codes)) },
    signOut: { method: 'POST', path: '/sign-out', access: 'public', answer: signOut },
    style: {
      path: STYLE_PATH,
      access: 'public',
      answer: () => ({ text: { type: 'text/css', content: STYLE }, cached: 31_536_000 }),
    },
  };
}

/** Refused sign-ins of an address are counted with those of the API. */
function limited(answer: (request: PageRequest) => Promise<PageAnswer>) {
  return (request: PageRequest): Promise<PageAnswer> =>
    limitedSignIn(request.address, request.hub, () => answer(request));
}

async function takeCode(request: PageRequest, codes: Set<string>): Promise<PageAnswer> {
  const given = hashOf(request.context.req.query('code') ?? '');
  for (const code of codes) {
    if (!timingSafeEqual(hashOf(code), given)) continue;
    codes.delete(code);
    return signInOnce(request);
  }
  throw new Problem('cloud_token_refused', 'The link is not valid, or was used before', {
    hint: 'Restart tool hub serve --dev: it prints another link.',
  });
}

async function respond(
  context: HonoContext,
  { page, hub, seen }: { page: Page; hub: Hub; seen: RequestFacts },
): Promise<Response> {
  const { requestId } = seen;
  let site: Site = { origin: '', base: '', secure: false };
  try {
    site = siteOf(context, hub.settings);
    const token = readCookie(context, 'session', site);
    if (token !== null) assertRequestRate(token, hub);
    const caller = token !== null && isPageToken(token) ? await hub.callers.find(token) : null;
    seen.caller = caller;
    const request: PageRequest = { context, site, caller, address: seen.address, hub };
    return written(page.access === 'public' ? await page.answer(request) : await permitted(request, page), requestId);
  } catch (error) {
    return written(problemPage(reported(error, hub, requestId), { site, caller: seen.caller, requestId }), requestId);
  }
}

async function permitted(request: PageRequest, page: Extract<Page, { access: 'auditor' }>): Promise<PageAnswer> {
  const { context, site, caller, address, hub } = request;
  if (caller === null) {
    const url = new URL(context.req.url);
    const cookies =
      readCookie(context, 'session', site) === null
        ? []
        : [cookieHeader({ name: 'session', value: '', life: 0 }, site)];
    return { ...signInPage(request, { next: nextPage(`${page.path}${url.search}`), status: 401 }), cookies };
  }
  if (decide(page.access, caller) === 'permitted') return await page.answer({ ...request, caller });
  await recordEvent(hub.db, { by: caller, action: `GET ${page.path}`, outcome: 'refused', address });
  const { ownerGroups, auditorGroups } = hub.settings;
  throw new Problem('not_permitted', 'Only owners and auditors of the hub may read this page', {
    hint: `It needs one of the groups: ${[...new Set([...ownerGroups, ...auditorGroups])].join(', ')}.`,
  });
}

function problemPage(
  problem: Problem,
  { site, caller, requestId }: { site: Site; caller: Caller | null; requestId: string },
): PageAnswer {
  const { title } = problem.body(requestId);
  const { hint } = problem.options;
  const content = html`<p>${problem.message}.</p>
${hint === undefined ? '' : html`<p>${hint}</p>`}
<p class="actions">${caller ? '' : html`<a href="${site.base}/sign-in">Sign in</a>`} <span class="faint">Request ${requestId}</span></p>`;
  return { status: problem.status, page: layout({ title, site, caller, content }) };
}

/** Only the style is loaded, and only from here; a page is in no frame of another. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

async function written(
  { status, page, text, location, cookies = [], cached }: PageAnswer,
  requestId: string,
): Promise<Response> {
  const headers = new Headers({
    'cache-control': cached === undefined ? 'no-store' : `public, max-age=${cached}, immutable`,
    'content-security-policy': POLICY,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
  });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  if (location !== undefined) {
    headers.set('location', location);
    return new Response(null, { status: 303, headers });
  }
  headers.set('content-type', text ? text.type : 'text/html; charset=utf-8');
  if (text?.file !== undefined) headers.set('content-disposition', `attachment; filename="${text.file}"`);
  return new Response(text ? text.content : String(await page), { status: status ?? 200, headers });
}
