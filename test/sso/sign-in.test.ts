import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { personOf } from '../../src/sso/session.ts';
import { signInAtProvider } from '../../src/sso/sign-in.ts';
import type { SignInPrompt } from '../../src/sso/sign-in-options.ts';
import {
  type IdentityProvider,
  type ProviderOptions,
  startIdentityProvider,
} from '../helpers/sign-in/identity-provider.ts';

const BEFORE = new AbortController().signal;

interface Attempt {
  provider: IdentityProvider;
  device?: boolean;
  timeoutMs?: number;
  /** What happens when the person is sent to this URL. */
  person: (prompt: SignInPrompt) => unknown;
}

async function attempt({ provider, device = false, timeoutMs, person }: Attempt) {
  return signInAtProvider({
    provider: { name: 'idp', settings: provider.settings },
    device,
    ...(timeoutMs !== undefined && { timeoutMs }),
    clock: () => new Date(),
    signal: BEFORE,
    show: (prompt) => void Promise.resolve(person(prompt)).catch(() => {}),
    openBrowser: async () => {},
  });
}

async function provided(options: ProviderOptions = {}) {
  return startIdentityProvider(options);
}

it('a sign-in in the browser returns tokens, person and groups', async () => {
  const provider = await provided();
  let page = '';
  const session = await attempt({
    provider,
    person: async ({ url, user_code }) => {
      expect(user_code).toBeNull();
      const asked = new URL(url).searchParams;
      expect(asked.get('code_challenge_method')).toBe('S256');
      expect(asked.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
      page = await provider.signIn(url);
    },
  });
  expect(personOf(session)).toMatchObject({ subject: 'ann', name: 'ann@example.com', groups: ['developers', 'ops'] });
  expect(session.refresh_token).toEqual(expect.any(String));
  await expect.poll(() => page).toContain('You are signed in');
});

it('a sign-in by a code needs no browser here', async () => {
  const provider = await provided();
  const session = await attempt({
    provider,
    device: true,
    person: ({ url, user_code }) => {
      expect(url).toContain(user_code);
      return provider.signIn(url, 'bob');
    },
  });
  expect(personOf(session)).toMatchObject({ subject: 'bob', groups: ['sales'] });
});

it('a device code is automatic without a browser', async () => {
  const provider = await provided();
  const codes: (string | null)[] = [];
  await signInAtProvider({
    provider: { name: 'idp', settings: provider.settings },
    device: false,
    clock: () => new Date(),
    signal: BEFORE,
    show: ({ url, user_code }) => {
      codes.push(user_code);
      void provider.signIn(url);
    },
    openBrowser: null,
  });
  expect(codes).toEqual([expect.any(String)]);
});

it.each([{ device: false }, { device: true }])('a person who refuses is not signed in: %o', async ({ device }) => {
  const provider = await provided();
  const failed = attempt({ provider, device, person: ({ url }) => provider.refuse(url) });
  await expect(failed).rejects.toMatchObject({ code: 'sign_in_denied', exit: 4 });
});

it.each([{ device: false }, { device: true }])('nobody is waited for without end: %o', async ({ device }) => {
  const provider = await provided();
  const shown: string[] = [];
  const failed = attempt({ provider, device, timeoutMs: 300, person: ({ url }) => shown.push(url) });
  await expect(failed).rejects.toMatchObject({ code: 'sign_in_timed_out', exit: 4 });
  const redirectUrl = new URL(shown[0] ?? '').searchParams.get('redirect_uri');
  if (redirectUrl !== null) await expect(fetch(redirectUrl)).rejects.toThrow('fetch failed');
});

it('an interrupt ends a sign-in whose provider does not answer', async () => {
  const silent = createServer();
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  onTestFinished(() => void silent.close());
  const interrupt = new AbortController();
  const settings = { provider_url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, client_id: 'tool' };
  silent.once('connection', (socket) => {
    onTestFinished(() => void socket.destroy());
    interrupt.abort(new Error('interrupted'));
  });
  const given = { device: false, clock: () => new Date(), show: () => {}, openBrowser: null };
  const failed = signInAtProvider({ provider: { name: 'idp', settings }, signal: interrupt.signal, ...given });
  await expect(failed).rejects.toThrow('interrupted');
});

it('a provider without device codes is an error', async () => {
  const provider = await provided({ deviceFlow: false });
  const failed = attempt({ provider, device: true, person: () => {} });
  await expect(failed).rejects.toMatchObject({ code: 'device_sign_in_missing', exit: 4 });
});

it('an unknown client is an error with a hint', async () => {
  const provider = await provided();
  provider.settings.client_id = 'nobody';
  const failed = attempt({ provider, device: true, person: () => {} });
  await expect(failed).rejects.toMatchObject({ code: 'sign_in_client_refused', exit: 4 });
});

it('a provider that is not there cannot be reached', async () => {
  const provider = await provided();
  await provider.stop().catch(() => {});
  provider.settings.provider_url = 'http://127.0.0.1:9';
  const failed = attempt({ provider, person: () => {} });
  await expect(failed).rejects.toMatchObject({ code: 'provider_unreachable', exit: 4 });
});

it('tokens go over https only, but for a provider on this machine', async () => {
  const provider = await provided();
  provider.settings.provider_url = 'http://idp.example.com';
  const failed = attempt({ provider, person: () => {} });
  await expect(failed).rejects.toMatchObject({ code: 'provider_not_https', exit: 4 });
});
