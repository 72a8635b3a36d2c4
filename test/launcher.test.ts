import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import pty from '@lydell/node-pty';
import { afterEach, beforeEach, expect, test } from 'vitest';

const launcher = fileURLToPath(new URL('../src/launcher.js', import.meta.url));
/** Makes the launcher believe that an old Node runs it; the runtime that it hands over to is not told. */
const oldNode = ['--import', 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.19.0"})'];
const main = `
  if (process.argv[2] === 'wait') {
    if (process.stdin.isTTY) process.on('SIGINT', () => process.exit(130));
    setInterval(() => {}, 1000);
    console.log('ready');
  }
  else { console.log(JSON.stringify({ node: process.versions.node, words: process.argv.slice(2) })); process.exitCode = 3; }
`;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tool-launcher-'));
  mkdirSync(join(folder, 'dist'));
  writeFileSync(join(folder, 'package.json'), '{"type": "module", "version": "1.2.3"}');
  cpSync(launcher, join(folder, 'dist/tool.js'));
  writeFileSync(join(folder, 'dist/main.ts'), main);
});

afterEach(() => rmSync(folder, { recursive: true }));

function run(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', env: environment() });
  return { status, stdout, stderr };
}

function start(...words: string[]): ChildProcess {
  return spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], env: environment() });
}

function environment() {
  return { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') };
}

function bringRuntime(version: string) {
  const runtime = join(folder, 'node_modules/node');
  mkdirSync(join(runtime, 'bin'), { recursive: true });
  writeFileSync(join(runtime, 'package.json'), JSON.stringify({ version }));
  symlinkSync(process.execPath, join(runtime, 'bin/node'));
}

const tool = () => join(folder, 'dist/tool.js');

test('the version is that of package.json, whatever Node asks', () => {
  expect(run(tool(), '--version').stdout).toBe('1.2.3\n');
  expect(run(...oldNode, tool(), '--version').stdout).toBe('1.2.3\n');
});

test('a recent Node runs the program itself', () => {
  const { status, stdout } = run(tool(), 'targets', '--json');
  expect(JSON.parse(stdout)).toEqual({ node: process.versions.node, words: ['targets', '--json'] });
  expect(status).toBe(3);
});

test('no other user can write into the cache of compiled code, whatever the umask', () => {
  const args = ['-c', 'umask 000; exec "$0" "$1"', process.execPath, tool()];
  expect(spawnSync('/bin/sh', args, { env: environment() }).status).toBe(3);
  expect(statSync(join(folder, 'cache/tool/compile-cache')).mode & 0o777).toBe(0o700);
});

test('an old Node hands over to the runtime of the package `node`, words and exit code included', () => {
  bringRuntime('24.0.0');
  const { status, stdout } = run(...oldNode, tool(), 'load', 'a b');
  expect(JSON.parse(stdout)).toEqual({ node: process.versions.node, words: ['load', 'a b'] });
  expect(status).toBe(3);
});

test.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
  '%s reaches the runtime and its end is the launcher’s',
  async (signal) => {
    bringRuntime('24.0.0');
    const child = start(...oldNode, tool(), 'wait');
    const output = child.stdout as NonNullable<ChildProcess['stdout']>;
    await once(output, 'data');
    child.kill(signal);
    const [code, endedBy] = await once(child, 'exit');
    expect({ code, endedBy }).toEqual({ code: null, endedBy: signal });
    // The runtime held the other end of the pipe: it has ended too.
    expect(await text(output)).toBe('');
  },
);

test('the runtime ends when the launcher is killed', async () => {
  bringRuntime('24.0.0');
  const child = start(...oldNode, tool(), 'wait');
  const output = child.stdout as NonNullable<ChildProcess['stdout']>;
  await once(output, 'data');
  child.kill('SIGKILL');
  // The runtime held the other end of the pipe: it has ended, too.
  expect(await text(output)).toBe('');
});

test('a SIGINT for the launcher reaches the runtime when standard input is a terminal', async () => {
  bringRuntime('24.0.0');
  const terminal = pty.spawn(process.execPath, [...oldNode, tool(), 'wait'], { env: environment() });
  const ended = new Promise<{ exitCode: number; signal?: number }>((resolve) => terminal.onExit(resolve));
  await new Promise<void>((resolve) => terminal.onData((data) => data.includes('ready') && resolve()));
  process.kill(terminal.pid, 'SIGINT');
  expect((await ended).exitCode).toBe(130);
});

test.each([undefined, '18.20.0'])(
  'an old Node with the runtime %s says what is needed and where to get it',
  (version) => {
    if (version) bringRuntime(version);
    const { status, stdout, stderr } = run(...oldNode, tool(), 'targets');
    expect(stdout).toBe('');
    expect(stderr).toContain('tool needs Node 22.15 or newer; this is Node 20.19.0');
    expect(stderr).toContain('https://nodejs.org');
    expect(status).toBe(1);
  },
);
