import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfiguration } from '../../src/config/load.ts';
import { connectionUrl } from '../../src/config/urls/connection-url.ts';
import type { WarningEvent } from '../../src/results/events.ts';
import { EXIT, UserError } from '../../src/runtime/errors.ts';
import { configFolder, SECRET_KEY, summary, withKey } from '../helpers/terminal/config-folder.ts';

const USER_FILE = '.config/tool/tool.yml';

test('the named file wins over ./tool.yml, and that over the one in the home directory', async () => {
  const folder = await configFolder({
    'other.yml': withKey('targets: {named: {}}'),
    'tool.yml': withKey('targets: {here: {}}'),
    [USER_FILE]: withKey('targets: {home: {}}'),
  });
  const names = async (change: object) => Object.keys((await folder.load(change)).settings.targets);
  expect(await names({ file: 'other.yml' })).toEqual(['named']);
  expect(await names({})).toEqual(['here']);
  expect(await names({ cwd: '/' })).toEqual(['home']);
});

test('a missing file of --config is an error', async () => {
  const folder = await configFolder({ 'tool.yml': withKey('') });
  const error = await folder.load({ file: 'nope.yml' }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(UserError);
  expect(error).toMatchObject({ code: 'no_configuration', exit: EXIT.configuration });
  expect(error.message).toContain(join(folder.path, 'nope.yml'));
});

test('a folder in the place of the file is an error, and no other file is read', async () => {
  const folder = await configFolder({ [USER_FILE]: withKey('') });
  await mkdir(join(folder.path, 'tool.yml'));
  expect(summary((await folder.inspect()).problems)).toEqual([
    '1:1 file_unreadable cannot be read: EISDIR: illegal operation on a directory',
  ]);
});

test('the error has a hint without file and variables', async () => {
  const folder = await configFolder({});
  const error = await folder.load().catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'no_configuration', exit: 3, hint: expect.stringContaining('tool config init') });
});

test('variables alone are a configuration when they suffice', async () => {
  const folder = await configFolder({});
  const { file, settings } = await folder.load({
    environment: { TOOL_SECRET_KEY: SECRET_KEY, TOOL_TARGETS__APP__SNAPSHOT__SRC_URL: 'postgres://h/d' },
  });
  expect(file).toBeNull();
  expect(settings.targets).toEqual({ app: { snapshot: { src_url: 'postgres://h/d' } } });
});

test('an unset key has its default, and a key without a value counts as not set', async () => {
  const folder = await configFolder({ 'tool.yml': withKey('working_directory:\nenv:\ntargets:\n') });
  expect((await folder.load()).settings).toMatchObject({
    saves: { keep: 20, max_duration: 10 },
    branches: { follow: 'tree' },
    secret_key: SECRET_KEY,
    working_directory: join(folder.path, '.tool'),
    env: 'production',
    dev_api_url: 'http://localhost:3000',
    debug: false,
    trace: false,
    theme: 'auto',
    notify: true,
    keys: {},
    docker: {},
    override: {},
    defaults: {},
    sso: {},
    storage_profiles: {},
    targets: {},
  });
});

test('a relative path starts at the file, and ~ is the home directory', async () => {
  const folder = await configFolder({ 'conf/tool.yml': withKey('working_directory: data') });
  const load = (directory?: string) =>
    folder.load({ file: 'conf/tool.yml', environment: directory ? { TOOL_WORKING_DIRECTORY: directory } : {} });
  expect((await load()).settings.working_directory).toBe(join(folder.path, 'conf/data'));
  expect((await load('~/x')).settings.working_directory).toBe(join(folder.path, 'x'));
  expect((await load('/y')).settings.working_directory).toBe('/y');
});

test('a query file is searched in the folder of the configuration, then in the current directory', async () => {
  const text = withKey('targets: {app: {sanitize: {query_file: q.sql}}}');
  const folder = await configFolder({ 'conf/tool.yml': text, 'q.sql': 'here' });
  const found = async () => (await folder.load({ file: 'conf/tool.yml' })).settings.targets.app?.sanitize?.query_file;
  expect(await found()).toBe(join(folder.path, 'q.sql'));
  await folder.write('conf/q.sql', 'nearer');
  expect(await found()).toBe(join(folder.path, 'conf/q.sql'));
});

test('a query file may be in the working directory, which comes after the other folders', async () => {
  const text = withKey('working_directory: data\ntargets: {app: {sanitize: {query_file: sql/q.sql}}}');
  const folder = await configFolder({ 'conf/tool.yml': text });
  const load = () => folder.load({ file: 'conf/tool.yml' });
  expect((await load()).deferred).toMatchObject([
    {
      code: 'query_file_not_found',
      hint: `Looked for ${['conf/sql/q.sql', 'sql/q.sql', 'conf/data/sql/q.sql'].map((file) => join(folder.path, file)).join(', ')}.`,
    },
  ]);
  await folder.write('conf/data/sql/q.sql', 'here');
  const { settings, deferred } = await load();
  expect(deferred).toEqual([]);
  expect(settings.targets.app?.sanitize?.query_file).toBe(join(folder.path, 'conf/data/sql/q.sql'));
  await folder.write('sql/q.sql', 'nearer');
  expect((await load()).settings.targets.app?.sanitize?.query_file).toBe(join(folder.path, 'sql/q.sql'));
});

test('an unfilled template is an error only for operations with that URL', async () => {
  const text = withKey(
    'targets:\n  my.app:\n    snapshot:\n      src_url: "{{`NOPE` | env}}"\n      dst_url: postgres://h/d\n',
  );
  const folder = await configFolder({ 'tool.yml': text });
  const configuration = await folder.load();
  expect(connectionUrl(configuration, 'targets.my.app.snapshot.dst_url')).toBe('postgres://h/d');
  expect(connectionUrl(configuration, 'targets.my.app.subset.src_url')).toBeUndefined();
  expect(() => connectionUrl(configuration, 'targets.my.app.snapshot.src_url')).toThrow(
    `${folder.path}/tool.yml:5:19: template parsing failed for src_url: the variable NOPE is not set`,
  );
  const { problems } = await folder.inspect();
  expect(problems).toMatchObject([{ severity: 'error', code: 'template_failed', hint: 'Set it: export NOPE=…' }]);
});

test('a configuration with problems is one error that lists them all with their places', async () => {
  const folder = await configFolder({ 'tool.yml': 'defalts: {}\ndebug: 3\n' });
  const error = await folder.load().catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'configuration_invalid', exit: 3, message: 'The configuration has 2 problems' });
  expect(error.details).toEqual([
    `${folder.path}/tool.yml:1:1: unknown key defalts. Did you mean defaults?`,
    `${folder.path}/tool.yml:2:8: debug must be true or false, found the number 3`,
  ]);
});

test.each(['', ' '.repeat(1000), 'debug: true\n'])(
  'a file without secret_key and encrypted values is valid: %j',
  async (text) => {
    const folder = await configFolder({ 'tool.yml': text });
    expect((await folder.inspect()).problems).toEqual([]);
    expect((await folder.load()).settings.secret_key).toBeUndefined();
  },
);

test('an encrypted bucket needs a key', async () => {
  const profile =
    'storage_profiles: {a: {provider: s3, region: r, bucket: b, access_key: x, secret_key: y, encrypt: true';
  const folder = await configFolder({ 'tool.yml': `${profile}}}\n` });
  const { problems } = await folder.inspect();
  expect(problems.filter(({ severity }) => severity === 'error')).toMatchObject([
    { code: 'missing_key', key: 'storage_profiles.a.encrypt' },
  ]);
  const own = await configFolder({ 'tool.yml': `${profile}, encryption_key: ${'a'.repeat(32)}}}\n` });
  expect((await own.inspect()).problems.filter(({ severity }) => severity === 'error')).toEqual([]);
});

test('warnings are reported while the configuration is loaded', async () => {
  const folder = await configFolder({ 'tool.yml': withKey('targets: {idle: {}}') });
  const heard: WarningEvent[] = [];
  await loadConfiguration({
    cwd: folder.path,
    environment: { TOOL_TRUST: 'true', HOME: folder.path, TOOL_DEBG: '1' },
    report: (event) => event.event === 'warning' && heard.push(event),
  });
  expect(heard.map(({ code }) => code)).toEqual(['target_without_operation', 'unknown_variable']);
});

test('a file with a plain secret that others may read is a warning; one without is not', async () => {
  const codes = async (text: string) => {
    const folder = await configFolder({ 'tool.yml': text });
    await chmod(join(folder.path, 'tool.yml'), 0o644);
    return (await folder.inspect({ environment: { TOOL_SECRET_KEY: SECRET_KEY, PW: 'x' } })).problems.map(
      ({ code }) => code,
    );
  };
  const target = (url: string) => `targets: {app: {snapshot: {src_url: "${url}"}}}`;
  expect(await codes(withKey(''))).toEqual(['file_readable_by_others']);
  expect(await codes(target('postgres://u:secret@h/d'))).toEqual(['file_readable_by_others']);
  expect(await codes(target('postgres://u:{{`PW` | env}}@h/d'))).toEqual([]);
  expect(await codes(target('postgres://u@h/d'))).toEqual([]);
});
