import { html } from 'hono/html';
import * as v from 'valibot';
import { recordEvent } from '../database/audit.ts';
import { insertServiceToken } from '../database/callers/tokens.ts';
import { Problem } from '../problem.ts';
import { endSession, openSession, SESSION_HOURS } from '../routes/sessions.ts';
import { cookieHeader, readCookie } from './cookies.ts';
import { layout } from './layout.ts';
import type { PageAnswer, PageRequest } from './page.ts';
import type { PagesProvider } from './provider.ts';
import type { Site } from './site.ts';

/** A sign-in that has begun; it ends within ten minutes, in the browser that began it. */
const begunSchema = v.strictObject({
  state: v.string(),
  nonce: v.string(),
  verifier: v.string(),
  next: v.string(),
});

const SIGN_IN_SECONDS = 600;
const SESSION_SECONDS = SESSION_HOURS * 3600;

/** Invites to sign in; `next` is the page that was wanted. */
export function signInPage(
  { site, hub: { settings } }: PageRequest,
  { next, status = 200 }: { next: string; status?: number },
): PageAnswer {
  const start = `${site.base}/sign-in/start?${new URLSearchParams({ next })}`;
  const content =
    settings.signIn === null
      ? html`<p>This hub is a trial without an identity provider. Open the link that <code>tool hub serve --dev</code> printed at its start. It works once.</p>`
      : html`<p>Owners and auditors of the hub sign in with ${new URL(settings.signIn.provider_url).host}.</p>
<p><a class="button" href="${start}">Sign in</a></p>`;
  return { status, page: layout({ title: 'Sign in', site, caller: null, content }) };
}

/** Leads to the provider: authorization code with PKCE (RFC 7636), state and nonce. */
export async function beginSignIn({ context, site }: PageRequest, provider: PagesProvider): Promise<PageAnswer> {
  const next = nextPage(context.req.query('next'));
  const { url, ...checks } = await provider.begin(callbackUrl(site));
  const value = Buffer.from(JSON.stringify({ ...checks, next })).toString('base64url');
  return { location: url, cookies: [cookieHeader({ name: 'sign_in', value, life: SIGN_IN_SECONDS }, site)] };
}

/** The provider leads back here, with a code or with an error. */
export async function endSignIn(
  { context, site, address, hub }: PageRequest,
  provider: PagesProvider,
): Promise<PageAnswer> {
  const begun = parseBegun(readCookie(context, 'sign_in', site));
  const tokens = await provider.end({ url: `${callbackUrl(site)}${new URL(context.req.url).search}`, ...begun });
  const session = { address, hub, page: true } as const;
  const { authtoken } = await openSession({ ...tokens, clientId: provider.clientId }, session);
  return { location: `${site.base}${begun.next}`, cookies: signedInCookies(authtoken, site) };
}

/** Starts a session of the trial owner, who opened the link that the start of the trial prints. */
export async function signInOnce({ site, address, hub }: PageRequest): Promise<PageAnswer> {
  const expiresAt = new Date(hub.clock().getTime() + SESSION_SECONDS * 1000);
  const owner = { name: 'trial owner (pages)', role: 'owner' as const, targetIds: [], expiresAt };
  const { id, token } = await insertServiceToken(hub.db, owner, { page: true });
  await recordEvent(hub.db, { by: { name: owner.name, subject: id, issuer: null }, action: 'session.create', address });
  return { location: `${site.base}/`, cookies: signedInCookies(token, site) };
}

/** Ends the session; a form of another site cannot. */
export async function signOut({ context, site, caller, address, hub }: PageRequest): Promise<PageAnswer> {
  assertSameSite(context.req.header('sec-fetch-site'), { origin: context.req.header('origin'), site });
  if (caller) await endSession(hub, { caller, address });
  return { location: `${site.base}/sign-in`, cookies: [cookieHeader({ name: 'session', value: '', life: 0 }, site)] };
}

/** Browsers name the origin of every POST; most also say how it relates to the page. */
function assertSameSite(
  fetchSite: string | undefined,
  { origin, site }: { origin: string | undefined; site: Site },
): void {
  if (origin === site.origin && (fetchSite === undefined || fetchSite === 'same-origin')) return;
  throw new Problem('not_permitted', 'The request comes from another site', {
    hint: 'Sign out with the button of the page.',
  });
}

function signedInCookies(token: string, site: Site): string[] {
  return [
    cookieHeader({ name: 'session', value: token, life: SESSION_SECONDS }, site),
    cookieHeader({ name: 'sign_in', value: '', life: 0 }, site),
  ];
}

function callbackUrl({ origin, base }: Site): string {
  return `${origin}${base}/sign-in/callback`;
}

/** Only a page of the hub: other addresses lead to the overview. */
export function nextPage(wanted = '/'): string {
  return /^\/(audit)?(\?[\w.~%&=+:@-]*)?$/.test(wanted) ? wanted : '/';
}

function parseBegun(value: string | null): v.InferOutput<typeof begunSchema> {
  const text = Buffer.from(value ?? '', 'base64url').toString();
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), begunSchema), text);
  if (success) return { ...output, next: nextPage(output.next) };
  throw new Problem('cloud_token_refused', 'This sign-in has ended, or was not begun in this browser', {
    hint: 'Sign in again.',
  });
}
