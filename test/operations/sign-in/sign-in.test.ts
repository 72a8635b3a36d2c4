import { execFile } from 'node:child_process';
import { stat, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { apiEndpoint } from '../../../src/config/api-endpoint.ts';
import { decrypt } from '../../../src/config/secrets/cipher.ts';
import { saveAuthtoken } from '../../../src/operations/sign-in/save-authtoken.ts';
import { signIn } from '../../../src/operations/sign-in/sign-in.ts';
import { signedIn, signInStatus } from '../../../src/operations/sign-in/sign-in-status.ts';
import { signOut } from '../../../src/operations/sign-in/sign-out.ts';
import { signedInLine } from '../../../src/operations/sign-in/text.ts';
import type { ProviderRequest } from '../../../src/sso/provider.ts';
import type { SignInSession } from '../../../src/sso/session.ts';
import { PROGRAM } from '../../helpers/program.ts';
import { signInWorld } from '../../helpers/sign-in/signed-in.ts';
import { SECRET_KEY } from '../../helpers/terminal/config-folder.ts';

it('a sign-in is stored encrypted, for its owner alone, and comments are kept', async () => {
  const world = await signInWorld();
  const result = await signIn(await world.open(), {});
  expect(result).toMatchObject({ provider: 'idp', name: 'ann@example.com', groups: ['developers', 'ops'] });
  const text = await world.text();
  expect(text).toContain('# the head');
  expect(text).toContain('client_id: tool # as registered');
  expect(text).toMatch(/^ {4}access_token: \$aes\$[0-9a-f]+$/m);
  expect(text).toMatch(/^ {4}refresh_token: \$aes\$[0-9a-f]+$/m);
  const expires = Number(/^ {4}expires: (\d+)$/m.exec(text)?.[1]);
  expect(Math.abs(expires - Date.now() / 1000 - 3600)).toBeLessThan(60);
  expect((await stat(world.file)).mode & 0o777).toBe(0o600);
  expect(JSON.stringify([result, world.events])).not.toMatch(/eyJ/);
});

it('a refused sign-in stores nothing', async () => {
  const world = await signInWorld();
  const before = await world.text();
  const context = await world.open();
  const refused = signIn(
    {
      ...context,
      report: (event) => {
        if (event.event === 'sign_in') void world.provider.refuse(event.url);
      },
    },
    {},
  );
  await expect(refused).rejects.toMatchObject({ code: 'sign_in_denied', exit: 4 });
  expect(await world.text()).toBe(before);
});

it('a session that is about to end is refreshed once, however many ask at the same moment', async () => {
  const world = await signInWorld();
  await signIn(await world.open(), {});
  await world.nearItsEnd();
  const before = await world.text();
  const contexts = await Promise.all([0, 1, 2, 3].map(() => world.open()));
  const all = await Promise.all(contexts.map((context) => signInStatus(context)));
  expect(all.flat().map(({ signed_in, error }) => ({ signed_in, error }))).toEqual(
    Array(4).fill({ signed_in: true, error: null }),
  );
  expect(world.provider.refreshes()).toBe(1);
  const tokenIn = (text: string) => decrypt(/refresh_token: (\S+)/.exec(text)?.[1] ?? '', SECRET_KEY);
  expect(tokenIn(await world.text())).toEqual(expect.any(String));
  expect(tokenIn(await world.text())).not.toBe(tokenIn(before));
  // What was rotated still works: the next refresh takes the new one.
  await world.nearItsEnd();
  await signInStatus(await world.open());
  expect(world.provider.refreshes()).toBe(2);
});

it('a refresh that is refused asks to sign in again, and says who it was', async () => {
  const world = await signInWorld();
  await signIn(await world.open(), {});
  await world.nearItsEnd();
  const session = await world.text();
  await signInStatus(await world.open());
  // An old copy of the file: its refresh token is used up.
  await writeFile(world.file, session);
  const [status] = await signInStatus(await world.open());
  const ended = { name: 'ann@example.com', error: expect.stringContaining('tool auth login idp') };
  expect(status).toMatchObject(ended);
  const asked = world.provider.refreshes();
  expect(await signInStatus(await world.open())).toEqual([expect.objectContaining(ended)]);
  // The token that was refused is not sent again.
  expect(world.provider.refreshes()).toBe(asked);
});

it('several processes at once refresh once', async () => {
  const world = await signInWorld();
  await signIn(await world.open(), {});
  await world.nearItsEnd();
  const status = (): Promise<{ stdout: string }> =>
    promisify(execFile)(process.execPath, [PROGRAM, '--config', world.file, '--json', 'auth', 'status']);
  for (const { stdout } of await Promise.all([status(), status(), status()]))
    expect(stdout).toContain('ann@example.com');
  expect(world.provider.refreshes()).toBe(1);
});

it('tool auth token - reads the token from standard input', async () => {
  const world = await signInWorld();
  const running = promisify(execFile)(process.execPath, [PROGRAM, '--config', world.file, 'auth', 'token', '-']);
  running.child.stdin?.end('open-sesame\n');
  const { stdout, stderr } = await running;
  expect(stdout + stderr).not.toContain('open-sesame');
  expect((await world.open()).configuration.settings.authtoken).toBe('open-sesame');
});

it('sign-out revokes the tokens and removes them from the file', async () => {
  const world = await signInWorld();
  const before = await world.text();
  await signIn(await world.open(), {});
  expect(await signOut(await world.open(), {})).toEqual([{ provider: 'idp', revoked: true }]);
  expect(await world.text()).toBe(before);
  expect(world.provider.revoked()).toBeGreaterThan(0);
  expect(await signOut(await world.open(), {})).toEqual([]);
});

it('sign-out succeeds while the provider is unreachable, and reports that the tokens were not revoked', async () => {
  const world = await signInWorld();
  await signIn(await world.open(), {});
  await world.provider.stop();
  expect(await signOut(await world.open(), {})).toEqual([{ provider: 'idp', revoked: false }]);
  expect(world.events).toContainEqual(expect.objectContaining({ event: 'warning', code: 'sign_out_not_told' }));
  expect(await world.text()).not.toContain('$aes$');
});

it('the cloud token is kept encrypted', async () => {
  const world = await signInWorld();
  await saveAuthtoken(await world.open(), { token: 'sesame' });
  expect(await world.text()).not.toContain('sesame');
  expect((await world.open()).configuration.settings.authtoken).toBe('sesame');
  await saveAuthtoken(await world.open(), { token: 'sesame', hub: 'http://127.0.0.1:3000' });
  const { settings } = (await world.open()).configuration;
  expect(apiEndpoint(settings)).toBe('http://127.0.0.1:3000/api/v3');
  await expect(saveAuthtoken(await world.open(), { token: 'sesame', hub: 'nowhere' })).rejects.toMatchObject({
    code: 'invalid_value',
  });
  await expect(saveAuthtoken(await world.open(), { token: 'two words' })).rejects.toMatchObject({
    code: 'invalid_value',
  });
});

it('a session without an ID token is one without a name', () => {
  const provider = { name: 'idp', settings: { provider_url: 'https://idp.example.com', client_id: 'tool' } };
  const session = { access_token: 'a', refresh_token: null, id_token: null, user_info: null, expires: 0 };
  const line = signedInLine(signedIn(provider as ProviderRequest, session as SignInSession));
  expect(line).toMatch(/^Signed in with idp, which has sent no name; no groups; until /);
});
