import { expect, it } from 'vitest';
import type { ProviderSettings } from '../../src/sso/provider.ts';
import { signInAtProvider } from '../../src/sso/sign-in.ts';
import { type Forgery, startForgingProvider } from '../helpers/sign-in/forging-provider.ts';
import { startIdentityProvider } from '../helpers/sign-in/identity-provider.ts';

function attempt(settings: ProviderSettings, person: (url: string) => Promise<unknown>) {
  return signInAtProvider({
    provider: { name: 'idp', settings },
    device: false,
    clock: () => new Date(),
    signal: new AbortController().signal,
    show: ({ url }) => void person(url).catch(() => {}),
    openBrowser: async () => {},
  });
}

it('the provider of these tests is believed where it forges nothing', async () => {
  const settings = await startForgingProvider({});
  await expect(attempt(settings, (url) => fetch(url))).resolves.toMatchObject({ access_token: 'at' });
});

const past = Math.floor(Date.now() / 1000) - 3600;
const FORGERIES: [what: string, forgery: Forgery, code: string][] = [
  ['the answer of another issuer', { callback: { iss: 'https://other.example.com' } }, 'sign_in_token_not_valid'],
  ['an answer that does not say its issuer', { callback: { iss: undefined } }, 'sign_in_token_not_valid'],
  ['another nonce', { claims: { nonce: 'forged' } }, 'sign_in_token_not_valid'],
  ['no nonce', { claims: { nonce: undefined } }, 'sign_in_token_not_valid'],
  ['alg none', { header: { alg: 'none' }, unsigned: true }, 'sign_in_token_not_valid'],
  ['the algorithm of a shared secret', { header: { alg: 'HS256' } }, 'sign_in_token_not_valid'],
  ['no signature', { unsigned: true }, 'sign_in_token_not_valid'],
  ['the signature of a stranger', { strangerSigns: true }, 'sign_in_token_not_valid'],
  ['the audience of another', { claims: { aud: 'other' } }, 'sign_in_token_not_valid'],
  ['an expired token', { claims: { exp: past, iat: past - 60 } }, 'sign_in_token_not_valid'],
  ['a token of another issuer', { claims: { iss: 'https://other.example.com' } }, 'sign_in_token_not_valid'],
  ['the groups of another person', { userInfo: { sub: 'eve', groups: ['board'] } }, 'sign_in_token_not_valid'],
];

it.each(FORGERIES)('%s is refused', async (_, forgery, code) => {
  const settings = await startForgingProvider(forgery);
  const failed = await attempt(settings, (url) => fetch(url)).catch((error) => error);
  expect(failed).toMatchObject({ code, exit: 4 });
  expect([failed.message, failed.hint, ...failed.details].join()).not.toMatch(/eyJ/);
});

it("a code of somebody else's sign-in is not taken", async () => {
  const provider = await startIdentityProvider({ deviceFlow: false });
  // The attacker's own sign-in, of which the code is kept before it is used.
  let stolen = '';
  const theirs = attempt(provider.settings, async (url) => {
    const end = new URL(url);
    const port = new URL(end.searchParams.get('redirect_uri') ?? '').port;
    end.searchParams.set(
      'redirect_uri',
      `http://127.0.0.1:${Number(port) === 65535 ? 1024 : Number(port) + 1}/callback`,
    );
    await provider.signIn(end.href).catch((error: Error) => error);
    stolen = provider.lastCallback();
    const back = new URL(end.searchParams.get('redirect_uri') ?? '');
    back.port = port;
    await fetch(
      `${back.href}?error=access_denied&state=${end.searchParams.get('state')}&iss=${encodeURIComponent(provider.settings.provider_url)}`,
    );
  });
  await expect(theirs).rejects.toMatchObject({ code: 'sign_in_denied' });
  const injected = attempt(provider.settings, async (url) => {
    const asked = new URL(url).searchParams;
    const back = new URL(asked.get('redirect_uri') ?? '');
    back.search = new URL(stolen).search;
    back.searchParams.set('state', asked.get('state') ?? '');
    await fetch(back);
  });
  await expect(injected).rejects.toMatchObject({ code: 'sign_in_code_refused', exit: 4 });
});

it('a code that was used is not taken again', async () => {
  const provider = await startIdentityProvider({ deviceFlow: false });
  await attempt(provider.settings, (url) => provider.signIn(url));
  const replayed = attempt(provider.settings, async (url) => {
    const asked = new URL(url).searchParams;
    const back = new URL(asked.get('redirect_uri') ?? '');
    back.search = new URL(provider.lastCallback()).search;
    back.searchParams.set('state', asked.get('state') ?? '');
    await fetch(back);
  });
  await expect(replayed).rejects.toMatchObject({ code: 'sign_in_code_refused', exit: 4 });
});

it('forged answers before the right one do not end a sign-in', async () => {
  const settings = await startForgingProvider({});
  const signedIn = attempt(settings, async (url) => {
    const back = new URL(url).searchParams.get('redirect_uri') ?? '';
    for (const query of ['?code=evil&state=forged', '?error=access_denied', '?error=access_denied&state=x']) {
      expect((await fetch(back + query)).status).toBe(400);
    }
    await fetch(url);
  });
  await expect(signedIn).resolves.toMatchObject({ access_token: 'at' });
});
