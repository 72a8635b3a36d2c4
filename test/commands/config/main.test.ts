import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROGRAM } from '../../helpers/program.ts';
import { type ConfigFolder, configFolder, withKey } from '../../helpers/terminal/config-folder.ts';

interface Ended {
  exit: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the program in a process of its own, with the folder as its home and current directory. */
function tool({ path }: ConfigFolder, words: string[], environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const child = spawn(process.execPath, [PROGRAM, 'config', ...words], {
    cwd: path,
    env: { PATH: process.env.PATH, TOOL_TRUST: 'true', HOME: path, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended: Ended = { exit: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (ended.stdout += chunk));
  child.stderr.on('data', (chunk) => (ended.stderr += chunk));
  return new Promise((resolve) => child.on('close', (exit) => resolve({ ...ended, exit })));
}

test('init asks nothing, writes for the owner alone, refuses to overwrite with 5, and check exits with 0', async () => {
  const folder = await configFolder({});
  const file = join(folder.path, '.config/tool/tool.yml');
  expect(await tool(folder, ['init', '--no-tui'])).toMatchObject({ exit: 0, stderr: '' });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(folder.path, '.tool'))).mode & 0o777).toBe(0o700);
  const written = await readFile(file, 'utf8');
  expect(await tool(folder, ['init', '--no-tui'])).toMatchObject({ exit: 5, stdout: '' });
  expect(await readFile(file, 'utf8')).toBe(written);
  expect((await tool(folder, ['check', '--offline'])).exit).toBe(0);
  expect((await tool(folder, ['init', '--no-tui', '--force'])).exit).toBe(0);
  expect(await readFile(file, 'utf8')).not.toBe(written);
});

test('check exits with 3 and a hint without a configuration, and prints no count', async () => {
  const { exit, stdout } = await tool(await configFolder({}), ['check']);
  expect(exit).toBe(3);
  expect(stdout).toContain('hint: Create one: tool config init');
  expect(stdout).not.toContain('1 error');
});

test('a template that fails is shown with a caret below it; once the variable is set, check exits with 0', async () => {
  const url = 'postgres://u:{{`APP_PASSWORD` | env}}@h/app';
  const folder = await configFolder({
    'tool.yml': withKey(`targets:\n  app:\n    snapshot:\n      src_url: "${url}"\n`),
  });
  const { exit, stdout } = await tool(folder, ['check']);
  expect(exit).toBe(3);
  expect(stdout).toContain(`error: template parsing failed for src_url: the variable APP_PASSWORD is not set
  at ${folder.path}/tool.yml:5:32
   5 |       src_url: "${url}"
     |                                ^
  hint: Set it: export APP_PASSWORD=…`);
  const password = 'p@ss:w/rd?#%41';
  const filled = await tool(folder, ['check', '--json'], { APP_PASSWORD: password });
  expect(filled.exit).toBe(0);
  expect(JSON.parse(filled.stdout)).toMatchObject({ ok: true, problems: [] });
  expect(filled.stdout + filled.stderr).not.toContain(password);
});
