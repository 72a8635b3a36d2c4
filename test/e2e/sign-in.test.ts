import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { decrypt } from '../../src/config/secrets/cipher.ts';
import { processTraces } from '../helpers/processes/process-traces.ts';
import { PROGRAM } from '../helpers/program.ts';
import { noteTakingBrowser } from '../helpers/sign-in/note-taking-browser.ts';
import { type SignInWorld, signInWorld } from '../helpers/sign-in/signed-in.ts';
import { SECRET_KEY } from '../helpers/terminal/config-folder.ts';
import { openTerminal } from './terminal.ts';

beforeAll(() => build());

it('one signs in from the screens', async () => {
  const world = await signInWorld();
  const browser = await noteTakingBrowser(world);
  const terminal = openTerminal({
    command: [process.execPath, PROGRAM],
    cwd: world.folder,
    environment: browser.environment,
  });
  onTestFinished(() => terminal.close());
  await terminal.waitFor('no targets yet');
  terminal.press('I');
  await terminal.waitFor('Waiting for the browser');
  await browser.url();
  expect(await world.provider.signIn(await browser.visited())).toContain('You are signed in');
  await terminal.waitFor('ann@example.com');
  await terminal.waitFor('developers, ops');
  expect(await world.text()).toContain('refresh_token: $aes$');
  terminal.press('esc');
  await terminal.waitFor('no targets yet');
  terminal.press('q');
  expect(await terminal.exited()).toMatchObject({ exitCode: 0 });
});

it('the user chooses one of several providers, and signs in with it', async () => {
  const world = await signInWorld('  other: { provider_url: "http://127.0.0.1:1", client_id: nobody }\n');
  const browser = await noteTakingBrowser(world);
  const terminal = openTerminal({
    command: [process.execPath, PROGRAM],
    cwd: world.folder,
    environment: browser.environment,
  });
  onTestFinished(() => terminal.close());
  await terminal.waitFor('no targets yet');
  terminal.press('I');
  await terminal.waitFor('❯ idp  http://127.0.0.1');
  terminal.press('down');
  await terminal.waitFor('❯ other');
  terminal.press('enter');
  await terminal.waitFor('The sign-in failed');
  terminal.press('esc');
  await terminal.waitFor('no targets yet');
  terminal.press('I');
  await terminal.waitFor('❯ idp');
  terminal.press('enter');
  await terminal.waitFor('Waiting for the browser');
  await browser.url();
  await world.provider.signIn(await browser.visited());
  await terminal.waitFor('ann@example.com');
});

it('no token is in output, logs, files or process lists, from sign-in to sign-out', async () => {
  const world = await signInWorld('debug: true\ntrace: true\n');
  const browser = await noteTakingBrowser(world);
  const temporary = join(world.folder, 'tmp');
  await mkdir(temporary);
  const said: string[] = [];
  const run = async (...words: string[]): Promise<number | null> => {
    const child = start(world, { words, environment: { ...browser.environment, TMPDIR: temporary } });
    const ended = once(child, 'close');
    const shown = Promise.all([text(child.stdout), text(child.stderr), processTraces(child.pid)]);
    if (words.includes('login')) {
      await browser.url();
      await world.provider.signIn(await browser.visited());
    }
    said.push(...(await shown).flat());
    await ended;
    said.push(...(await namesAndContents(world.folder)));
    return child.exitCode;
  };
  expect(await run('auth', 'login', '--json', '--debug')).toBe(0);
  const first = tokensIn(await world.text());
  await world.nearItsEnd();
  expect(await run('auth', 'status', '--debug')).toBe(0);
  const second = tokensIn(await world.text());
  expect(await run('auth', 'status', '--json')).toBe(0);
  expect(await run('config', 'show', '--json')).toBe(0);
  expect(await run('auth', 'logout', '--debug')).toBe(0);
  expect([...first, ...second].filter((token) => token.length > 20)).toHaveLength(6);
  for (const there of ['ann@example.com', 'TMPDIR=', 'auth\0status', 'tool.log', 'sign_in with idp'])
    expect(said.join('\n')).toContain(there);
  for (const token of [...first, ...second]) expect(said.join('\n')).not.toContain(token);
}, 60_000);

interface Words {
  words: string[];
  environment: NodeJS.ProcessEnv;
}

function start({ folder }: SignInWorld, { words, environment }: Words) {
  const child = spawn(process.execPath, [PROGRAM, ...words], { cwd: folder, env: environment });
  onTestFinished(() => void child.kill());
  return child;
}

/** Of all files in a folder, temporary ones, logs and locks included. */
async function namesAndContents(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return [...files, ...(await Promise.all(files.map((file) => readFile(file, 'utf8'))))];
}

function tokensIn(file: string): string[] {
  return Array.from(file.matchAll(/_token: (\S+)/g), ([, value = '']) => decrypt(value, SECRET_KEY) ?? '');
}
