import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { PROGRAM } from '../helpers/program.ts';
import { type ConfigFolder, configFolder, SECRET_KEY, withKey } from '../helpers/terminal/config-folder.ts';

/** Runs the program in a process of its own, whose environment is what the test says. */
function tool({ path }: ConfigFolder, words: string[], environment: NodeJS.ProcessEnv) {
  const env = { PATH: process.env.PATH, TOOL_TRUST: 'true', HOME: path, ...environment };
  const child = spawn(process.execPath, [PROGRAM, ...words], { cwd: path, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = { exit: null as number | null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (ended.stdout += chunk));
  child.stderr.on('data', (chunk) => (ended.stderr += chunk));
  return new Promise<typeof ended>((resolve) => child.on('close', (exit) => resolve({ ...ended, exit })));
}

test('variables are sufficient without a file; a token selects the mode', async () => {
  const folder = await configFolder({});
  const environment = {
    TOOL_SECRET_KEY: SECRET_KEY,
    TOOL_TARGETS__APP__SNAPSHOT__SRC_URL: 'postgres://app:hidden@db/app',
    TOOL_TARGETS__APP__SSO_GROUPS: 'one,two',
  };
  const local = await tool(folder, ['targets', '--no-check', '--json'], environment);
  expect(local).toMatchObject({ exit: 0, stderr: '' });
  expect(JSON.parse(local.stdout)).toMatchObject({
    mode: 'local',
    targets: [{ name: 'app', src_url: 'postgres://app@db/app' }],
  });
  expect((await tool(folder, ['targets', '--no-check'], environment)).stdout).toMatch(
    /\n\nLocal mode \(no authtoken\), from the variables\n$/,
  );
  const cloud = await tool(folder, ['targets', '--no-check', '--json'], { ...environment, TOOL_AUTHTOKEN: 'tok3n' });
  expect(JSON.parse(cloud.stdout)).toMatchObject({ mode: 'cloud' });
  expect(cloud.stdout + cloud.stderr).not.toMatch(/tok3n|hidden/);
});

test('a variable of the wrong type is an error that names it, and the file is not blamed', async () => {
  const folder = await configFolder({ 'tool.yml': withKey('defaults: {cpus: 2}\n') });
  const { exit, stderr } = await tool(folder, ['targets'], { TOOL_DEFAULTS__CPUS: 'four' });
  expect(exit).toBe(3);
  expect(stderr).toContain('TOOL_DEFAULTS__CPUS must be a whole number, found "four"');
  expect(stderr).not.toContain('tool.yml');
});

test('a variable that fits no key is a warning with the nearest one, and the command goes on', async () => {
  const folder = await configFolder({ 'tool.yml': withKey('targets: {My-App: {share: {}}}\n') });
  const environment = { TOOL_DEFAULT__CPUS: '4', TOOL_TARGETS__MY_APP__CPU: '3' };
  const { exit, stderr } = await tool(folder, ['targets', '--no-check'], environment);
  expect(exit).toBe(0);
  expect(stderr).toMatch(/^warning: TOOL_DEFAULT__CPUS matches no configuration key .*TOOL_DEFAULTS__CPUS/m);
  expect(stderr).toMatch(
    /^warning: TOOL_TARGETS__MY_APP__CPU matches no configuration key .*TOOL_TARGETS__MY_APP__CPUS/m,
  );
});

test('a name that is written in another case with other dashes is the one of the file', async () => {
  const folder = await configFolder({ 'tool.yml': withKey('targets: {My-App: {share: {}}}\n') });
  const { stdout } = await tool(folder, ['config', 'show'], { TOOL_TARGETS__MY_APP__CPUS: '3' });
  expect(stdout).toMatch(/^targets\.My-App\.cpus +3 +TOOL_TARGETS__MY_APP__CPUS$/m);
});

test('TOOL_NO_CONFIRM answers with yes only when it is true', async () => {
  const folder = await configFolder({ 'tool.yml': withKey('targets: {app: {share: {}}}\n') });
  const word = await tool(folder, ['targets', '--no-check'], { TOOL_NO_CONFIRM: 'maybe' });
  expect(word).toMatchObject({ exit: 3, stderr: expect.stringContaining('TOOL_NO_CONFIRM must be true or false') });
  expect((await tool(folder, ['targets', '--no-check'], { TOOL_NO_CONFIRM: 'off' })).exit).toBe(0);
});

test('TOOL_CONFIG names the configuration file, and --config takes precedence', async () => {
  const folder = await configFolder({
    'one.yml': withKey('targets: {one: {share: {}}}\n'),
    'two.yml': withKey('targets: {two: {share: {}}}\n'),
  });
  const named = { TOOL_CONFIG: 'one.yml' };
  expect((await tool(folder, ['config', 'show'], named)).stdout).toContain('targets.one.');
  const { stdout } = await tool(folder, ['config', 'show', '--config', 'two.yml'], named);
  expect(stdout).toContain('targets.two.');
  expect(stdout).not.toContain('targets.one.');
  const missing = await tool(folder, ['targets'], { TOOL_CONFIG: 'absent.yml' });
  expect(missing).toMatchObject({ exit: 3, stderr: expect.stringContaining('absent.yml') });
});
