import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { PROGRAM } from '../helpers/program.ts';
import { noteTakingBrowser } from '../helpers/sign-in/note-taking-browser.ts';
import { type SignInWorld, signInWorld } from '../helpers/sign-in/signed-in.ts';
import { SECRET_KEY } from '../helpers/terminal/config-folder.ts';

const missing = ['dbus-run-session', 'gnome-keyring-daemon'].filter((name) => !existsSync(join('/usr/bin', name)));
const lacking = missing.length > 0 ? ` (needs ${missing.join(' and ')})` : '';

/** Of a session that is always about to end, so that each use refreshes it. */
const LIFE = 50;

const TOOL = `"${process.execPath}" "${PROGRAM}"`;
/** A configuration whose own key is in the keychain as well, with the provider of the test. */
const INIT = `${TOOL} config init --keychain --no-tui >/dev/null; cd .config/tool; sed -n '/^sso:/,$p' ../../tool.yml >> tool.yml`;
const COUNT = `echo "tokens in the file: $(grep -c '_token: $aes' tool.yml)"`;
const UNLOCK = 'printf pass | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1';
const [LOGIN, STATUS, LOGOUT] = ['login', 'status', 'logout'].map((verb) => `${TOOL} auth ${verb}; ${COUNT}`);

beforeAll(() => build());

describe.skipIf(lacking)(`a sign-in that the system's keychain keeps${lacking}`, () => {
  it('is refreshed there, and removed by signing out; the file never holds anything of it', async () => {
    const world = await signInWorld('', { life: LIFE });
    const { stdout, stderr, code } = await signingIn(world, {
      command: 'dbus-run-session',
      words: ['--', 'bash', '-ec', `${UNLOCK}; ${INIT}; ${LOGIN}; ${STATUS}; ${STATUS}; ${LOGOUT}; ${STATUS}`],
      environment: { XDG_RUNTIME_DIR: world.folder, XDG_DATA_HOME: join(world.folder, 'data') },
    });
    expect({ code, warnings: stderr.match(/^warning: .*$/gm) }).toEqual({ code: 0, warnings: null });
    const said = stdout.trim().split('\n');
    expect(said.map((line) => line.replace(/;.*/, ''))).toEqual([
      'Signed in as ann@example.com with idp',
      'tokens in the file: 0',
      ...['Signed in as ann@example.com with idp', 'No cloud token is set', 'tokens in the file: 0'],
      ...['Signed in as ann@example.com with idp', 'No cloud token is set', 'tokens in the file: 0'],
      'Signed out of idp and revoked its tokens',
      'tokens in the file: 0',
      ...['Not signed in with idp: tool auth login idp', 'No cloud token is set', 'tokens in the file: 0'],
    ]);
    expect(world.provider.refreshes()).toBe(2);
    expect(world.provider.revoked()).toBeGreaterThan(0);
  });
});

it('a sign-in without a bus is stored in the file, encrypted, with a message, also at each refresh', async () => {
  const world = await signInWorld('', { life: LIFE });
  await writeFile(world.file, (await world.text()).replace(`"${SECRET_KEY}"`, 'keychain'));
  const { stdout, stderr, code } = await signingIn(world, {
    command: 'bash',
    words: ['-ec', `${LOGIN}; ${STATUS}; ${LOGOUT}`],
    environment: { TOOL_SECRET_KEY: SECRET_KEY },
  });
  const line = /^warning: The keychain cannot keep the sign-in: .+ It is in .+, encrypted$/;
  expect({ code, warnings: stderr.match(/^.*keychain.*$/gim) }).toEqual({
    code: 0,
    warnings: [expect.stringMatching(line), expect.stringMatching(line)],
  });
  expect(stdout.match(/tokens in the file: \d/g)?.map((count) => count.at(-1))).toEqual(['3', '3', '0']);
});

interface Shell {
  command: string;
  words: string[];
  environment: NodeJS.ProcessEnv;
}

/** Runs it, and signs in once a browser is opened. */
async function signingIn(world: SignInWorld, { command, words, environment }: Shell) {
  const browser = await noteTakingBrowser(world);
  const env = { ...browser.environment, ...environment };
  const child = spawn(command, words, { cwd: world.folder, env });
  onTestFinished(() => void child.kill());
  const [ended, shown] = [once(child, 'close'), Promise.all([text(child.stdout), text(child.stderr)])];
  await browser.url();
  await world.provider.signIn(await browser.visited());
  const [stdout, stderr] = await shown;
  await ended;
  return { stdout, stderr, code: child.exitCode };
}
