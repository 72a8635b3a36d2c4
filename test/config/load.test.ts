import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfiguration, readConfiguration } from '../../src/config/load.ts';
import { configured, SECRET_KEY, settingsOf, temporaryFolder } from '../helpers/configured.ts';

const KEY = '0123456789abcdef0123456789abcdef';

/** A folder with a configuration in the home directory, one where the tool is called, and one elsewhere. */
async function threePlaces() {
  const folder = await temporaryFolder();
  const home = join(folder.path, 'home');
  const cwd = join(folder.path, 'project');
  const userFile = join(home, '.config/tool/tool.yml');
  const own = join(folder.path, 'own.yml');
  await mkdir(join(home, '.config/tool'), { recursive: true });
  await mkdir(cwd);
  await writeFile(userFile, `${SECRET_KEY}authtoken: user\n`);
  await writeFile(own, `${SECRET_KEY}authtoken: own\n`);
  return { ...folder, home, cwd, userFile, own, environment: { HOME: home } };
}

test('--config wins over ./tool.yml, which wins over ~/.config/tool/tool.yml', async () => {
  await using places = await threePlaces();
  const { cwd, environment, own, userFile } = places;
  expect(await loadConfiguration({ cwd, environment })).toMatchObject({
    file: userFile,
    settings: { authtoken: 'user' },
  });

  await writeFile(join(cwd, 'tool.yml'), `${SECRET_KEY}authtoken: project\n`);
  const project = await loadConfiguration({ cwd, environment });
  expect(project).toMatchObject({ file: join(cwd, 'tool.yml'), settings: { authtoken: 'project' } });

  const given = await loadConfiguration({ cwd, environment, file: '../own.yml' });
  expect(given).toMatchObject({ file: own, settings: { authtoken: 'own' } });
});

test('files are not merged with one another', async () => {
  await using places = await threePlaces();
  const { cwd, environment } = places;
  await writeFile(join(cwd, 'tool.yml'), SECRET_KEY);
  expect((await loadConfiguration({ cwd, environment })).settings.authtoken).toBeUndefined();
});

test('variables alone configure the tool', async () => {
  await using folder = await temporaryFolder();
  const environment = {
    HOME: folder.path,
    TOOL_SECRET_KEY: KEY,
    TOOL_TARGETS__APP__SNAPSHOT__SRC_URL: 'postgres://h/d',
  };
  const { file, settings } = await loadConfiguration({ cwd: folder.path, environment });
  expect(file).toBeNull();
  expect(settings.targets).toEqual({ app: { snapshot: { src_url: 'postgres://h/d' } } });
});

test('no file and no variables is an error that names config init, with exit 3', async () => {
  await using folder = await temporaryFolder();
  const lookup = { cwd: folder.path, environment: { HOME: folder.path, TOOL_NO_CONFIRM: 'true' } };
  const facts = { code: 'configuration_missing', exit: 3, hint: expect.stringContaining('tool config init') };
  await expect(loadConfiguration(lookup)).rejects.toMatchObject(facts);
  expect(await readConfiguration(lookup)).toMatchObject({
    configuration: null,
    file: null,
    problems: [{ line: null }],
  });
});

test('a file given with --config that is not there is an error that names it, whatever else there is', async () => {
  await using places = await threePlaces();
  const { cwd, environment } = places;
  await expect(loadConfiguration({ cwd, environment, file: 'gone.yml' })).rejects.toMatchObject({
    code: 'configuration_missing',
    exit: 3,
    message: expect.stringContaining(join(cwd, 'gone.yml')),
  });
});

test('a directory in the place of the file is an error', async () => {
  await using places = await threePlaces();
  const { cwd, environment, home } = places;
  const { problems } = await readConfiguration({ cwd, environment, file: home });
  expect(problems).toMatchObject([{ code: 'file_unreadable', message: 'cannot be read: it is a directory' }]);
});

test('an invalid configuration is one error with every problem, its place and its hint', async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'tool.yml'), 'secret_key: short\ndebgu: true\n');
  const loading = loadConfiguration({
    cwd: folder.path,
    environment: { HOME: folder.path, TOOL_DEFAULTS__CPUS: 'four' },
  });
  await expect(loading).rejects.toMatchObject({
    code: 'configuration_invalid',
    exit: 3,
    details: [
      expect.stringMatching(
        /^tool\.yml:1:13: secret_key must be exactly 32 hexadecimal characters\n.*tool config init/,
      ),
      'tool.yml:2:1: unknown key debgu\n  Did you mean debug?',
      'TOOL_DEFAULTS__CPUS must be a whole number, found "four"',
    ],
  });
});

test('defaults are filled in, and the working directory is in the home directory', async () => {
  const { configuration, folder } = await configured(SECRET_KEY);
  expect(configuration?.settings).toMatchObject({
    working_directory: join(folder, '.tool'),
    dev_api_url: 'http://localhost:3000',
    debug: false,
    targets: {},
  });
  expect((await settingsOf(SECRET_KEY, { HOME: undefined })).working_directory).toBe(join(homedir(), '.tool'));
});

test('a relative path starts at the file that says it, or where the tool was called for a variable', async () => {
  await using places = await threePlaces();
  const { path, cwd, environment, own } = places;
  await writeFile(own, `${SECRET_KEY}working_directory: ./data\ntargets: {app: {sanitize: {query_file: ~/q.sql}}}\n`);
  const { settings } = await loadConfiguration({ cwd, environment, file: own });
  expect(settings.working_directory).toBe(join(path, 'data'));
  expect(settings.targets.app?.sanitize?.query_file).toBe(join(places.home, 'q.sql'));
  const variable = { ...environment, TOOL_WORKING_DIRECTORY: 'elsewhere' };
  const moved = await loadConfiguration({ cwd, environment: variable, file: own });
  expect(moved.settings.working_directory).toBe(join(cwd, 'elsewhere'));
});
