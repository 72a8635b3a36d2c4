import { execFileSync } from 'node:child_process';
import { chmod, mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { storeSnapshot } from '../helpers/storage/stored-snapshot.ts';
import { ATTENDED, PIPED } from '../helpers/terminal/cli-host.ts';
import { type ConfiguredCli, configuredCli } from '../helpers/terminal/configured-cli.ts';

let cli: ConfiguredCli;

beforeEach(async () => {
  cli = await configuredCli(
    'working_directory: ./work\ntargets:\n  app: { name: The shop, snapshot: {} }\n  billing: { snapshot: {} }\n',
  );
});

test('a command without its target names those of the configuration, also in a terminal', async () => {
  for (const terminal of [ATTENDED, PIPED]) {
    const { exit, stderr } = await cli.tool(['build'], { terminal });
    expect(exit).toBe(2);
    expect(stderr).toMatch(/missing required argument 'target'/i);
    expect(stderr).toContain('Targets: app, billing.');
  }
});

test('another argument is required', async () => {
  const { exit, stderr } = await cli.tool(['branch', 'create', 'app'], { terminal: ATTENDED });
  expect([exit, stderr]).toEqual([2, expect.stringContaining("'name'")]);
});

test.each([
  ['build', '[options] [target]'],
  ['sanitize', '[options] [command] [target] [snapshot]'],
  ['diff', '[options] [target] <a> [b]'],
  ['back', '[options] [target] [point]'],
  ['rehearse', '[options] [target] [command...]'],
  ['branch drop', '[options] <target> <names...>'],
])('the usage of %s shows which arguments it may lack', async (name, usage) => {
  const { stdout } = await cli.tool([...name.split(' '), '--help']);
  expect(stdout.split('\n')[0]).toBe(`Usage: tool ${name} ${usage}`);
});

const ONE = 'working_directory: ./work\ntargets:\n  shop: { snapshot: { src_url: "postgres://127.0.0.1:1/shop" } }\n';

test('the only target of a configuration may be left out, in a script too', async () => {
  const { tool, folder } = await configuredCli(ONE);
  const created_at = '2026-11-21T04:00:00.000Z';
  await storeSnapshot(join(folder.path, 'work'), { target: 'shop', id: '8c41f2ab', created_at, content: '1\n' });
  for (const words of [['target'], ['target', 'shop']]) {
    expect((await tool(words)).stdout).toContain('8c41f2ab');
  }
  const { exit, stderr } = await tool(['note', '0', 'before the release']);
  expect([exit, stderr]).toEqual([0, '']);
  expect((await tool(['target', '--json'])).stdout).toContain('"note":"before the release"');
  expect((await tool(['note', '0'])).stderr).toContain("Missing required argument 'text'");
  expect((await tool(['branch', 'drop', 'fix', '--yes'])).stderr).not.toContain('There is no target');
  expect((await tool(['branch', 'drop'])).stderr).toContain("Missing required argument 'names'");
  expect((await tool(['rm', '0', '--yes'])).exit).toBe(0);
});

test('a warning about the configuration is printed once, also where the only target is left out', async () => {
  const { tool, folder } = await configuredCli(ONE);
  await chmod(join(folder.path, 'tool.yml'), 0o644);
  const { stderr } = await tool(['target']);
  expect(stderr.match(/others can read it/g)).toHaveLength(1);
});

test('a word that names neither a target nor a snapshot is reported as both', async () => {
  const { tool, folder } = await configuredCli(ONE);
  const neither = 'and there is no target "nosuch"';
  expect((await tool(['load', 'nosuch', '--yes'])).stderr).toContain(`has no snapshots yet, ${neither}`);
  const created_at = '2026-11-21T04:00:00.000Z';
  await storeSnapshot(join(folder.path, 'work'), { target: 'shop', id: '8c41f2ab', created_at, content: '1\n' });
  expect((await tool(['load', 'nosuch', '--yes'])).stderr).toContain(`has no snapshot nosuch, ${neither}`);
});

test('a hub without a sign-in is the hint where there are no targets', async () => {
  const { tool } = await configuredCli('base_url: https://hub.example.com\n');
  expect((await tool(['load', 'orders', '--yes'])).stderr).toContain('tool auth login hub');
  expect((await tool(['targets'])).stdout).toContain('Sign in to have the targets of the hub: tool auth login hub');
});

test('the error of a missing configuration names that of the main working tree, outside of it only', async () => {
  const { tool, folder } = await configuredCli(ONE);
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...words], { cwd: folder.path });
  git('init', '--quiet', '.');
  git('commit', '--quiet', '--allow-empty', '--message', 'first');
  git('worktree', 'add', '--quiet', 'tree');
  const cwd = join(folder.path, 'tree');
  const { exit, stderr } = await tool(['targets'], { cwd });
  expect(exit).toBe(3);
  expect(stderr).toContain(
    `The main working tree has one: add --config ${join(await realpath(folder.path), 'tool.yml')}`,
  );
  expect((await tool(['targets', '--config', 'none.yml'], { cwd })).stderr).not.toContain('main working tree');
  // A stranger's folder that calls itself a tree of this repository, which git has not made.
  await mkdir(join(folder.path, 'stranger/own'), { recursive: true });
  const files = { '.git': 'gitdir: own\n', 'own/commondir': '../../.git\n', 'own/gitdir': '../.git\n' };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, 'stranger', name), text);
  expect((await tool(['targets'], { cwd: join(folder.path, 'stranger') })).stderr).not.toContain('main working tree');
  const unasked = await tool(['targets'], { cwd, environment: { TOOL_TRUST: '' } });
  expect(unasked.stderr).not.toContain('--config');
  expect(unasked.stderr).toContain('The main working tree has one that is not trusted');
  expect((await tool(['trust', '--trust'], { environment: { TOOL_TRUST: '' } })).exit).toBe(0);
  expect((await tool(['targets'], { cwd, environment: { TOOL_TRUST: '' } })).stderr).toContain('add --config');
});

test('options after -- are of the program that is run, and name no database', async () => {
  const { tool } = await configuredCli(ONE);
  for (const words of [
    ['--', 'flyway', '--to', '5'],
    ['shop', '--', 'migrate', '--from', '3', '--help'],
  ]) {
    expect((await tool(['rehearse', ...words])).stderr).toContain('has no destination');
  }
});

test.each([
  ['resembles its name', ['target', 'shp'], 'There is no target "shp"'],
  ['is empty', ['target', ''], 'There is no target ""'],
  ['has no other place', ['build', 'prod'], 'There is no target "prod"'],
  ['would be a program to run', ['rehearse', 'prod', '--yes'], 'There is no target "prod"'],
  ['would become one more branch to drop', ['branch', 'drop', 'prod', 'fix', '--yes'], 'There is no target "prod"'],
])('a word that %s does not stand for the only target', async (_, words, message) => {
  const { exit, stderr } = await (await configuredCli(ONE)).tool(words);
  expect(stderr).toContain(message);
  expect(exit).toBe(2);
});
