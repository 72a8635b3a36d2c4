import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { signIn } from '../../src/operations/sign-in/sign-in.ts';
import { signInWorld } from '../helpers/sign-in/signed-in.ts';
import { configFolder, SECRET_KEY } from '../helpers/terminal/config-folder.ts';

const run = promisify(execFile);
const STORE = new URL('../../src/sso/session-store.ts', import.meta.url).href;
const missing = ['dbus-run-session', 'gnome-keyring-daemon'].filter((name) => !existsSync(join('/usr/bin', name)));
const lacking = missing.length > 0 ? ` (needs ${missing.join(' and ')})` : '';

describe.skipIf(lacking)(`a session in the system's keychain${lacking}`, () => {
  it('is read, written and removed there, and the file holds nothing of it', async () => {
    const provider = 'sso:\n  idp: { provider_url: https://idp.example.com, client_id: tool }\n';
    const { path } = await configFolder({ 'tool.yml': `secret_key: keychain\n${provider}` });
    const file = join(path, 'tool.yml');
    const session = { access_token: 'at', refresh_token: 'rt', id_token: null, user_info: null, expires: 1 };
    const script = `
      import { createSessionStore } from ${JSON.stringify(STORE)};
      const settings = { secret_key: ${JSON.stringify(SECRET_KEY)} };
      const store = createSessionStore({ file: ${JSON.stringify(file)}, settings }, { report: (event) => console.log(event.message), environment: process.env });
      await store.write('idp', ${JSON.stringify(session)});
      console.log(JSON.stringify(await store.read('idp')));
      await store.remove('idp');
      console.log(JSON.stringify(await store.read('idp')));`;
    await writeFile(join(path, 'use.mjs'), script);
    const unlock = 'printf pass | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1';
    const env = {
      PATH: process.env.PATH,
      TOOL_TRUST: 'true',
      HOME: path,
      XDG_RUNTIME_DIR: path,
      XDG_DATA_HOME: join(path, 'data'),
    };
    const words = ['--', 'bash', '-c', `${unlock}; ${process.execPath} ${join(path, 'use.mjs')}`];
    const { stdout } = await run('dbus-run-session', words, { env });
    expect(stdout.trim().split('\n')).toEqual([JSON.stringify(session), 'null']);
    expect(await readFile(file, 'utf8')).toBe(`secret_key: keychain\n${provider}`);
  }, 60_000);
});

it('the session is stored in the file without a keychain, encrypted, with a message', async () => {
  for (const name of ['DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR']) vi.stubEnv(name, '');
  onTestFinished(() => void vi.unstubAllEnvs());
  const world = await signInWorld();
  await writeFile(world.file, (await world.text()).replace(`"${SECRET_KEY}"`, 'keychain'));
  const context = await world.open(0, { TOOL_SECRET_KEY: SECRET_KEY });
  await signIn(context, {});
  const warnings = world.events.filter(({ event }) => event === 'warning');
  expect(warnings).toEqual([
    expect.objectContaining({
      code: 'keychain_unavailable',
      message: expect.stringMatching(/^The keychain cannot keep the sign-in: .+ encrypted$/),
    }),
  ]);
  expect(await world.text()).toMatch(/access_token: \$aes\$/);
});
