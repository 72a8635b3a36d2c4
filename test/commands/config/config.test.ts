import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../src/commands/registry.ts';
import { EXIT } from '../../../src/runtime/errors.ts';
import { runWith } from '../../helpers/terminal/cli-host.ts';
import { type ConfigFolder, configFolder, SECRET_KEY, withKey } from '../../helpers/terminal/config-folder.ts';

function run({ path }: ConfigFolder, ...words: string[]) {
  const environment = { TOOL_TRUST: 'true', HOME: path, PATH: process.env.PATH };
  return runWith(['config', ...words], COMMANDS, { cwd: path, environment });
}

test('config check shows each problem with its place, an excerpt and a hint, and exits with 3', async () => {
  const folder = await configFolder({
    'tool.yml': withKey('targets:\n  app:\n    shar: {}\n    share:\n      storage_profile_name: x\n'),
  });
  const { exit, stdout } = await run(folder, 'check');
  expect(exit).toBe(EXIT.configuration);
  const file = join(folder.path, 'tool.yml');
  expect(stdout.split('\n\nEngines')[0]).toBe(`error: unknown key targets.app.shar
  at ${file}:4:5
   4 |     shar: {}
     |     ^
  hint: Did you mean share?

error: storage profile 'x' not found
  at ${file}:6:29
   6 |       storage_profile_name: x
     |                             ^
  hint: Define it below storage_profiles.`);
  expect(stdout).toContain(`\n\n2 errors in ${file}, local mode\n`);
});

test('config check without problems exits with 0 and names the engines', async () => {
  const folder = await configFolder({ 'tool.yml': withKey('') });
  const { exit, stdout } = await run(folder, 'check', '--offline');
  expect(exit).toBe(EXIT.done);
  expect(stdout).toContain('postgres-local');
  expect(stdout).toContain(`No problems in ${folder.path}/tool.yml, local mode`);
});

test('config check --json is one document', async () => {
  const folder = await configFolder({ 'tool.yml': withKey('authtoken: t\ndebug: 1\n') });
  const { exit, stdout } = await run(folder, 'check', '--json');
  expect(exit).toBe(EXIT.configuration);
  const { engines, keychain, docker, ...document } = JSON.parse(stdout);
  expect(document).toEqual({
    ok: false,
    file: join(folder.path, 'tool.yml'),
    shadowed: null,
    mode: 'cloud',
    offline: false,
    plain_secrets: ['authtoken'],
    working_directory: null,
    sanitizing: [],
    storage_profiles: [],
    cloud: { url: null, ok: null, error: null },
    problems: [
      {
        severity: 'error',
        code: 'wrong_type',
        key: 'debug',
        message: 'debug must be true or false, found the number 1',
        hint: 'Write true.',
        file: join(folder.path, 'tool.yml'),
        line: 3,
        column: 8,
      },
    ],
  });
  expect(engines[0]).toMatchObject({ id: 'postgres-local' });
  expect(keychain).toMatchObject({ ok: expect.any(Boolean) });
  expect(docker).toBeDefined();
  expect(stdout).not.toContain(SECRET_KEY);
});

test('config check is about the file that is named', async () => {
  const folder = await configFolder({ 'tool.yml': withKey(''), 'other.yml': 'x: 1' });
  expect((await run(folder, 'check', '--config', 'other.yml')).exit).toBe(EXIT.configuration);
  expect((await run(folder, 'check', '--config', 'tool.yml')).exit).toBe(EXIT.done);
});

test('config init writes a file that config check finds nothing wrong with, and never overwrites it', async () => {
  const folder = await configFolder({});
  const first = await run(folder, 'init', '--no-tui');
  expect(first.exit).toBe(EXIT.done);
  expect(first.stdout).toContain(`Wrote ${folder.path}/.config/tool/tool.yml`);
  expect((await run(folder, 'check')).exit).toBe(EXIT.done);
  const text = await readFile(join(folder.path, '.config/tool/tool.yml'), 'utf8');
  expect((await run(folder, 'init', '--no-tui')).exit).toBe(EXIT.refused);
  expect(await readFile(join(folder.path, '.config/tool/tool.yml'), 'utf8')).toBe(text);
  const forced = await run(folder, 'init', '--force', '--json');
  expect(JSON.parse(forced.stdout).replaced).toBe(join(folder.path, '.config/tool/tool.yml.replaced'));
});

test('init, check and show report a ./tool.yml that shadows the file of the user', async () => {
  const folder = await configFolder({ 'work/tool.yml': withKey('') });
  const own = join(folder.path, '.config/tool/tool.yml');
  const change = {
    cwd: join(folder.path, 'work'),
    environment: { TOOL_TRUST: 'true', HOME: folder.path, PATH: process.env.PATH },
  };
  const inWork = (...words: string[]) => runWith(['config', ...words], COMMANDS, change);
  expect((await inWork('check', '--offline')).stdout).not.toContain('Not read');
  expect((await inWork('init')).stdout).toContain(`Not read in this folder because of ${change.cwd}/tool.yml`);
  for (const command of ['check', 'show']) {
    const line = `${change.cwd}/tool.yml, local mode\nNot read, because this folder has a tool.yml: ${own}`;
    expect((await inWork(command)).stdout).toContain(line);
    expect(JSON.parse((await inWork(command, '--json')).stdout)).toMatchObject({ shadowed: own });
  }
  expect(JSON.parse((await inWork('show', '--config', own, '--json')).stdout)).toMatchObject({ shadowed: null });
  expect(JSON.parse((await run(folder, 'init', '--force', '--json')).stdout)).toMatchObject({ shadowed_by: null });
});

test('config init warns of a file that git would commit, and not of one that it ignores', async () => {
  const folder = await configFolder({});
  execFileSync('git', ['init', '--quiet'], { cwd: folder.path });
  const warned = await run(folder, 'init', '--no-tui', '--config', 'tool.yml');
  expect(warned.stderr).toContain(`git does not ignore ${folder.path}/tool.yml, which contains the secret_key. Add it`);
  await writeFile(join(folder.path, '.gitignore'), '/tool.yml\n');
  expect((await run(folder, 'init', '--force', '--no-tui', '--config', 'tool.yml')).stderr).not.toContain(
    'git does not',
  );
});
