import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { PROGRAM } from '../../helpers/program.ts';
import { type SignInWorld, signInWorld } from '../../helpers/sign-in/signed-in.ts';

interface Login {
  words: string[];
  /** What somebody does who reads the URL that is printed. */
  person: (url: string) => unknown;
}

/** Runs the program where there is no display. */
async function login({ folder }: SignInWorld, { words, person }: Login) {
  const child = spawn(process.execPath, [PROGRAM, 'auth', 'login', ...words], {
    cwd: folder,
    env: { TOOL_TRUST: 'true', HOME: folder, PATH: process.env.PATH },
  });
  onTestFinished(() => void child.kill());
  const said = { stdout: '', stderr: '' };
  let isSent = false;
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (piece: string) => {
      said[stream] += piece;
      // Unbroken: on a line of its own, or in an event.
      const url = /^(http:\S+)\n|"url":"(http:[^"]+)"/m.exec(said[stream])?.slice(1).find(Boolean);
      if (url === undefined || isSent) return;
      isSent = true;
      void Promise.resolve(person(url)).catch(() => {});
    });
  }
  await once(child, 'close');
  return { ...said, exit: child.exitCode };
}

/** The answer that the browser would bring, but for what is changed of it. */
function answer(url: string, change: Record<string, string>): Promise<unknown> {
  const asked = new URL(url);
  const back = new URL(asked.searchParams.get('redirect_uri') ?? '');
  const right = { code: 'c', state: asked.searchParams.get('state') ?? '', iss: asked.origin };
  back.search = new URLSearchParams({ ...right, ...change }).toString();
  return fetch(back);
}

const FAILING: [who: string, code: string, person: (url: string, world: SignInWorld) => unknown][] = [
  ['refuses', 'sign_in_denied', (url, { provider }) => provider.refuse(url)],
  ['comes from another issuer', 'sign_in_token_not_valid', (url) => answer(url, { iss: 'https://other.example.com' })],
  ['brings a code of nobody', 'sign_in_code_refused', (url) => answer(url, {})],
];

it.each(FAILING)('auth login of a user who %s exits with 4 and %s, and stores nothing', async (_, code, person) => {
  const world = await signInWorld();
  const before = await world.text();
  const { stdout, exit } = await login(world, { words: ['--json'], person: (url) => person(url, world) });
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events).toMatchObject([
    { event: 'sign_in', provider: 'idp' },
    { event: 'error', code, exit: 4 },
  ]);
  expect(exit).toBe(4);
  expect(await world.text()).toBe(before);
});

it('auth login prints a code without a display, and the person after the sign-in', async () => {
  const world = await signInWorld('', { deviceFlow: true });
  const person = (url: string) => world.provider.signIn(url, 'bob');
  const { stdout, stderr, exit } = await login(world, { words: [], person });
  expect(exit).toBe(0);
  expect(stderr).toMatch(/this code: [A-Z]{4}-[A-Z]{4}$/m);
  expect(stdout).toMatch(/^Signed in as bob@example\.com with idp; groups: sales; until .+, then refreshed\n$/);
});
