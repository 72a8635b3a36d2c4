import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROGRAM } from '../helpers/program.ts';

const SOURCE = new URL('../../src/main.ts', import.meta.url).pathname;

let directory: string;
let hook: string;
let resolved: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'main-'));
  resolved = join(directory, 'resolved');
  hook = join(directory, 'hook.mjs');
  // Writes down every file that is loaded.
  writeFileSync(
    hook,
    `import { appendFileSync } from 'node:fs';
     import { registerHooks } from 'node:module';
     registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(resolved)}, url + '\\n'); return next(url, context); } });`,
  );
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Ended {
  exit: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the program in a process of its own, where nothing is a terminal and no configuration is found. */
function tool(words: string[], program = [PROGRAM]): Promise<Ended> {
  const { CI: _, FORCE_COLOR: __, ...environment } = process.env;
  const child = spawn(process.execPath, [...program, ...words], {
    cwd: directory,
    env: { ...environment, HOME: directory, XDG_CONFIG_HOME: directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended: Ended = { exit: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (ended.stdout += chunk));
  child.stderr.on('data', (chunk) => (ended.stderr += chunk));
  return new Promise((resolve) => child.on('close', (exit) => resolve({ ...ended, exit })));
}

test('alone and without a terminal it prints why no screens are opened, and the help', async () => {
  const { exit, stdout, stderr } = await tool([]);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  expect(stdout).toMatch(/^The screens are not opened: standard input is not a terminal\. .*\n\nUsage: tool /);
});

test('--help is a result: standard output, exit 0', async () => {
  const { exit, stdout, stderr } = await tool(['--help']);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  expect(stdout).toMatch(/^Usage: tool /);
});

test('--version is that of package.json', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(await tool(['--version'])).toEqual({ exit: 0, stdout: `${version}\n`, stderr: '' });
});

test('output that cannot be written is one line on standard error, and exit 1', {
  skip: !existsSync('/dev/full'),
}, () => {
  for (const [words, exit] of [
    [['--help'], 1],
    [['completion', 'bash'], 1],
    [['targets', '--config', '/nowhere'], 3],
  ] as const) {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...words], {
      cwd: directory,
      env: { PATH: process.env.PATH, HOME: directory },
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    expect({ words, status }).toEqual({ words, status: exit });
    if (exit === 1) expect(stderr).toBe('error: Cannot write the output: ENOSPC: no space left on device, write\n');
    const both = openSync('/dev/full', 'w');
    const silent = spawnSync(process.execPath, [PROGRAM, ...words], { cwd: directory, stdio: ['ignore', both, both] });
    closeSync(both);
    expect(silent.status).toBe(exit);
  }
});

test('wrong usage exits with 2 and suggests the closest match', async () => {
  expect(await tool(['buidl', 'app'])).toEqual({
    exit: 2,
    stdout: '',
    stderr: "error: Unknown command 'buidl'\n  hint: Did you mean build? tool --help lists the commands.\n",
  });
});

test('wrong usage is a JSON document with --json', async () => {
  const { exit, stdout } = await tool(['config', 'decrypt', '--json']);
  expect(exit).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'missing_argument', exit: 2 } });
});

test('completion prints a script and lists candidates', async () => {
  expect((await tool(['completion', 'bash'])).stdout).toContain('complete -F _tool tool');
  expect(await tool(['__complete', '--', 'con'])).toEqual({
    exit: 0,
    stdout: 'config\twrite, check, show and encrypt the configuration\n',
    stderr: '',
  });
});

test('targets are offered only where a configuration is found; a person in the middle of a line sees no error', async () => {
  expect(await tool(['__complete', '--', 'build', ''])).toEqual({ exit: 0, stdout: '', stderr: '' });
});

test('the targets offered are those of the file that the line names', async () => {
  const key = 'secret_key: "0123456789abcdef0123456789abcdef"';
  for (const name of ['one', 'two']) {
    writeFileSync(join(directory, `${name}.yml`), `${key}\ntargets: {${name}: {name: The ${name}, share: {}}}\n`);
  }
  const words = [
    ['--config', 'one.yml', 'load', ''],
    ['load', '--config=two.yml', ''],
    ['load', '--config', '=', 'one.yml', 't'],
    ['load', '--config', 'one.yml', '--config', 'two.yml', ''],
  ];
  const offered = await Promise.all(words.map((line) => tool(['__complete', '--', ...line])));
  expect(offered.map(({ stdout }) => stdout)).toEqual(['one\tThe one\n', 'two\tThe two\n', '', 'two\tThe two\n']);
});

test('a reader that goes away is no error', async () => {
  const child = spawn('sh', ['-c', `"$0" "$1" --help; echo "exit $?" >&2`, process.execPath, PROGRAM], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  child.stdout.destroy();
  await new Promise((resolve) => child.on('close', resolve));
  expect(stderr).toBe('exit 0\n');
});

test.each([['--help'], ['--version'], ['buidl']])('%s loads nothing heavy', async (word) => {
  rmSync(resolved, { force: true });
  await tool([word], ['--import', pathToFileURL(hook).href, SOURCE]);
  const loaded = readFileSync(resolved, 'utf8');
  expect(loaded).toContain('src/main.ts');
  expect(loaded).not.toMatch(/node_modules\/(?!commander\/)|src\/(operations|config|engines|repository)\/|screens\//);
});
