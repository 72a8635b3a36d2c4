import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { PROGRAM } from '../helpers/program.ts';
import { configFolder } from '../helpers/terminal/config-folder.ts';

const BROKEN = new URL('../config/broken/', import.meta.url);

beforeAll(build);

/** Runs the bundled program in a process of its own, with the folder as its home and current directory. */
async function check(content: Buffer, ...words: string[]) {
  const { path } = await configFolder({ 'tool.yml': content, '.aws/config': '[profile work]\nrole_arn = r\n' });
  const child = spawn(process.execPath, [PROGRAM, 'config', 'check', '--offline', '--no-tui', ...words], {
    cwd: path,
    env: { PATH: process.env.PATH, TOOL_TRUST: 'true', HOME: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = { exit: null as number | null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (ended.stdout += chunk));
  child.stderr.on('data', (chunk) => (ended.stderr += chunk));
  return new Promise<typeof ended>((resolve) => {
    child.on('close', (exit) => resolve({ ...ended, exit, stdout: ended.stdout.replaceAll(path, '') }));
  });
}

const CASES: [string, number][] = [
  ['many-at-once', 3],
  ['not-utf8', 3],
  ['storage-no-credentials', 0],
  ['syntax-tab', 3],
  ['too-deep', 3],
];

test.for(CASES)(
  'the bundled program prints the recorded output for broken/%s.yml, and exits with %i',
  async ([name, exit]) => {
    const said = await check(await readFile(new URL(`${name}.yml`, BROKEN)));
    const expected = await readFile(new URL(`${name}.expected`, BROKEN), 'utf8');
    expect(said).toMatchObject({ exit, stderr: '' });
    for (const paragraph of expected.trimEnd().split('\n\n')) expect(said.stdout).toContain(paragraph);
  },
);

test('--json of the bundled program is one document with the same problems', async () => {
  const { exit, stdout } = await check(await readFile(new URL('many-at-once.yml', BROKEN)), '--json');
  const { ok, problems, engines, keychain } = JSON.parse(stdout);
  expect({ exit, ok }).toEqual({ exit: 3, ok: false });
  expect(problems).toHaveLength(7);
  expect(problems[0]).toMatchObject({ severity: 'error', code: 'wrong_value', key: 'env', line: 2, column: 6 });
  expect(engines.map(({ id }: { id: string }) => id)).toContain('postgres-local');
  expect(keychain).toMatchObject({ ok: expect.any(Boolean) });
});
