import { lstat, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type InitRequest, initConfiguration } from '../../../src/config/init/init.ts';
import { EXIT } from '../../../src/runtime/errors.ts';
import { configFolder } from '../../helpers/terminal/config-folder.ts';

const USER_FILE = '.config/tool/tool.yml';

async function initIn(path: string, change: Partial<InitRequest> = {}) {
  return initConfiguration({ force: false, environment: { HOME: path }, cwd: path, ...change });
}

test('a working directory that cannot be made leaves no file behind that names it', async () => {
  const folder = await configFolder({ '.tool': 'a file in its place' });
  const environment = { HOME: folder.path };
  await expect(initConfiguration({ force: false, environment, cwd: folder.path })).rejects.toMatchObject({
    code: 'file_not_written',
  });
  expect((await folder.inspect()).problems).toMatchObject([{ code: 'no_configuration' }]);
});

test('init writes a valid configuration and creates the working directory', async () => {
  const folder = await configFolder({});
  expect(await initIn(folder.path)).toEqual({
    file: join(folder.path, USER_FILE),
    working_directory: join(folder.path, '.tool'),
    shadowed_by: null,
    replaced: null,
    secret_key_in: 'file',
    keychain_error: null,
  });
  const { configuration, problems } = await folder.inspect();
  expect(problems).toEqual([]);
  expect(configuration?.settings.working_directory).toBe(join(folder.path, '.tool'));
  expect((await stat(join(folder.path, '.tool'))).mode & 0o777).toBe(0o700);
});

test('the file is for its owner alone, and its target shows how', async () => {
  const folder = await configFolder({});
  const { file } = await initIn(folder.path, { file: 'mine.yml' });
  expect(file).toBe(join(folder.path, 'mine.yml'));
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const text = await readFile(file, 'utf8');
  const schema = /^# yaml-language-server: \$schema=(\S+)$/m.exec(text)?.[1] ?? '';
  expect(JSON.parse(await readFile(new URL(schema), 'utf8'))).toMatchObject({ title: 'Configuration of tool' });
  await folder.write('tool.yml', text.replace(/^# (?=targets:| {2})/gm, ''));
  const { problems } = await folder.inspect({ environment: { APP_PASSWORD: 'x' } });
  expect(problems).toEqual([]);
  expect(Object.keys((await folder.load()).settings.targets)).toEqual(['app']);
});

test('each file has a key of its own', async () => {
  const folder = await configFolder({});
  await initIn(folder.path, { file: 'a.yml' });
  await initIn(folder.path, { file: 'b.yml' });
  const keys = await Promise.all(
    ['a.yml', 'b.yml'].map(async (file) => (await folder.load({ file })).settings.secret_key),
  );
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(keys[0]).not.toBe(keys[1]);
});

test('a file that is there is not overwritten, and nothing is left behind', async () => {
  const folder = await configFolder({ 'tool.yml': 'mine' });
  await expect(initIn(folder.path, { file: 'tool.yml' })).rejects.toMatchObject({
    code: 'configuration_exists',
    exit: EXIT.refused,
  });
  expect(await readdir(folder.path)).toEqual(['tool.yml']);
  expect(await readFile(join(folder.path, 'tool.yml'), 'utf8')).toBe('mine');
});

test('--force replaces the file, and keeps a copy', async () => {
  const folder = await configFolder({ 'tool.yml': 'mine' });
  const { replaced } = await initIn(folder.path, { file: 'tool.yml', force: true });
  expect(await readFile(replaced ?? '', 'utf8')).toBe('mine');
  expect((await folder.inspect()).problems).toEqual([]);
  expect((await readdir(folder.path)).sort()).toEqual([...['.config', '.tool', 'tool.yml', 'tool.yml.replaced']]);
});

test('a link to a file elsewhere stays a link', async () => {
  const folder = await configFolder({ 'dotfiles/tool.yml': 'mine' });
  await symlink(join(folder.path, 'dotfiles/tool.yml'), join(folder.path, 'tool.yml'));
  await initIn(folder.path, { file: 'tool.yml', force: true });
  expect((await lstat(join(folder.path, 'tool.yml'))).isSymbolicLink()).toBe(true);
  expect(await readFile(join(folder.path, 'dotfiles/tool.yml'), 'utf8')).toContain('secret_key: ');
});

test('one of two concurrent runs writes, and the other is refused', async () => {
  const folder = await configFolder({});
  const outcomes = await Promise.allSettled([initIn(folder.path), initIn(folder.path)]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

test('init reports a path that is not writable', async () => {
  const folder = await configFolder({ file: 'not a folder' });
  await expect(initIn(folder.path, { file: 'file/tool.yml' })).rejects.toMatchObject({
    code: 'file_not_written',
    exit: EXIT.failed,
  });
});
