import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type ClientMetadata, type Configuration } from 'oidc-provider';
import { CookieJar } from 'tough-cookie';
import { onTestFinished } from 'vitest';
import type { ProviderSettings } from '../../../src/sso/provider.ts';
import type { SigningKey } from './signing-key.ts';

/** A real identity provider on this machine, whose people sign in with their name and any password. */
export interface IdentityProvider {
  settings: ProviderSettings;
  /** Signs in on its pages as a browser does, and goes where it leads; what the last page says. */
  signIn(url: string, person?: string): Promise<string>;
  /** Presses "cancel" instead. */
  refuse(url: string): Promise<string>;
  /** Refresh tokens that were used up: how often it was asked to refresh. */
  refreshes(): number;
  revoked(): number;
  /** Where a browser was sent back to last, with the code. */
  lastCallback(): string;
  /** Makes its userinfo endpoint fail, or answer again. */
  failUserInfo(fails: boolean): void;
  stop(): Promise<void>;
}

export interface ProviderOptions {
  groups?: Record<string, string[]>;
  /** Seconds that tokens last. */
  life?: number;
  deviceFlow?: boolean;
  /** Says groups, name and e-mail address at its userinfo endpoint only. */
  claimsInUserInfo?: boolean;
  /** A client with pages; without a secret a public one. */
  webClient?: { redirectUrl: string; secret?: string };
  /** Of several tests: the file stops it. */
  shared?: boolean;
  /** What signs its tokens; default one that all providers of tests share. */
  signingKey?: SigningKey;
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

export async function startIdentityProvider(options: ProviderOptions = {}): Promise<IdentityProvider> {
  const { groups = { ann: ['developers', 'ops'], bob: ['sales'] }, life = 3600, deviceFlow = true } = options;
  const { claimsInUserInfo = false, webClient, shared = false, signingKey } = options;
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const grants = ['authorization_code', 'refresh_token', ...(deviceFlow ? [DEVICE_GRANT] : [])];
  const configuration: Configuration = {
    clients: [
      {
        client_id: 'tool',
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['http://127.0.0.1/callback'],
        grant_types: grants,
        response_types: ['code'],
      },
      ...(webClient ? [pagesClient(webClient)] : []),
    ],
    scopes: ['openid', 'offline_access', 'profile', 'email', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    // By default claims in the ID token itself, as most providers have it.
    conformIdTokenClaims: claimsInUserInfo,
    clockTolerance: 0,
    rotateRefreshToken: true,
    features: {
      deviceFlow: { enabled: deviceFlow },
      revocation: { enabled: true },
      devInteractions: { enabled: true },
    },
    ttl: { AccessToken: life, IdToken: life, RefreshToken: 86_400, Grant: 86_400, Session: 86_400, Interaction: 600 },
    cookies: { keys: ['a key of the test'] },
    ...(signingKey && { jwks: { keys: [signingKey.jwk] } }),
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, name: id, groups: groups[id] ?? [] }),
    }),
  };
  const provider = new Provider(issuer, configuration);
  const asked = { refreshes: 0, revoked: 0 };
  provider.on('refresh_token.consumed', () => {
    asked.refreshes += 1;
  });
  provider.on('grant.revoked', () => {
    asked.revoked += 1;
  });
  provider.on('refresh_token.destroyed', () => {
    asked.revoked += 1;
  });
  const answer = provider.callback();
  let userInfoFails = false;
  server.on('request', (request, response) => {
    if (userInfoFails && request.url === '/me') response.writeHead(503).end();
    else void answer(request, response);
  });
  let lastCallback = '';
  const remember = (url: string): void => {
    lastCallback = url;
  };
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  if (!shared) onTestFinished(stop);
  return {
    settings: { provider_url: issuer, client_id: 'tool', redirect_url: 'http://127.0.0.1:0/callback' },
    signIn: (url, person = 'ann') => browse(url, { issuer, person, refuse: false, remember }),
    refuse: (url) => browse(url, { issuer, person: 'ann', refuse: true, remember }),
    refreshes: () => asked.refreshes,
    revoked: () => asked.revoked,
    lastCallback: () => lastCallback,
    failUserInfo: (fails) => {
      userInfoFails = fails;
    },
    stop,
  };
}

function pagesClient({ redirectUrl, secret }: { redirectUrl: string; secret?: string }): ClientMetadata {
  return {
    client_id: 'pages',
    ...(secret === undefined ? {} : { client_secret: secret }),
    token_endpoint_auth_method: secret === undefined ? 'none' : 'client_secret_basic',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code'],
    response_types: ['code'],
  };
}

interface Visitor {
  issuer: string;
  person: string;
  refuse: boolean;
  remember: (callback: string) => void;
}

interface Request {
  url: string;
  form?: URLSearchParams;
}

/** A browser as far as these pages need one: cookies, redirections, forms. */
async function browse(start: string, visitor: Visitor): Promise<string> {
  const jar = new CookieJar();
  let request: Request = { url: start };
  for (let pages = 0; pages < 20; pages += 1) {
    const { url, form } = request;
    if (new URL(url).pathname.endsWith('/callback')) visitor.remember(url);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: await jar.getCookieString(url) },
      ...(form && { method: 'POST', body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) await jar.setCookie(cookie, url);
    const location = response.headers.get('location');
    const page = await response.text();
    // A form of the client is not for the sign-in.
    const filled = url.startsWith(visitor.issuer) ? formOf(page, { url, visitor }) : null;
    const next = location === null ? filled : { url: new URL(location, url).href };
    if (next === null) return page;
    request = next;
  }
  throw new Error(`The pages lead nowhere: ${request.url}`);
}

/** The form of a page, filled in. */
function formOf(page: string, { url, visitor }: { url: string; visitor: Visitor }): Request | null {
  const cancel = /href="([^"]*\/abort)"/.exec(page)?.[1];
  if (visitor.refuse && cancel !== undefined) return { url: new URL(cancel, url).href };
  const action = /<form[^>]*action="([^"]*)"/.exec(page)?.[1];
  if (action === undefined) return null;
  const form = new URLSearchParams();
  for (const [, name = '', value = ''] of page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)) {
    form.set(name, value);
  }
  if (page.includes('name="login"')) {
    form.set('login', visitor.person);
    form.set('password', 'whatever');
  }
  return { url: new URL(action.replaceAll('&amp;', '&'), url).href, form };
}
