import { expect, test } from 'vitest';
import { variableName } from '../../src/config/environment.ts';
import { settingsSchema } from '../../src/config/schema/settings.ts';
import { type Shape, shapeOf } from '../../src/config/schema/shape.ts';
import { configFolder, SECRET_KEY, summary, withKey } from '../helpers/terminal/config-folder.ts';

const FILE = withKey('defaults: {cpus: 2}\ntargets:\n  My-App:\n    cpus: 1\n    snapshot: {}\n');

test('a variable wins over the file', async () => {
  const folder = await configFolder({ 'tool.yml': FILE });
  const { settings } = await folder.load({
    environment: { TOOL_DEFAULTS__CPUS: '8', TOOL_DEBUG: 'TRUE', TOOL_ENV: 'staging' },
  });
  expect(settings).toMatchObject({ defaults: { cpus: 8 }, debug: true, env: 'staging' });
});

test('names of maps match without regard to case, - and _ alike; a new name is made in lower case', async () => {
  const folder = await configFolder({ 'tool.yml': FILE });
  const { settings } = await folder.load({
    environment: { TOOL_TARGETS__MY_APP__CPUS: '7', TOOL_TARGETS__NEW_ONE__SHARE__DST_URL: 'postgres://h/d' },
  });
  expect(settings.targets).toEqual({
    'My-App': { cpus: 7, snapshot: {} },
    new_one: { share: { dst_url: 'postgres://h/d' } },
  });
});

test('a name with __ in it is found', async () => {
  const folder = await configFolder({ 'tool.yml': withKey('targets: {a__b: {snapshot: {}}}') });
  const { settings } = await folder.load({ environment: { TOOL_TARGETS__A__B__CPUS: '3' } });
  expect(settings.targets).toEqual({ a__b: { snapshot: {}, cpus: 3 } });
});

test('a variable that could mean two names is an error', async () => {
  const folder = await configFolder({ 'tool.yml': withKey('targets: {a-b: {snapshot: {}}, a_b: {snapshot: {}}}') });
  const { problems } = await folder.inspect({ environment: { TOOL_TARGETS__A_B__CPUS: '3' } });
  expect(summary(problems)).toEqual(['ambiguous_variable TOOL_TARGETS__A_B__CPUS could mean a-b or a_b']);
});

test('lists are separated by commas or in brackets, maps in braces', async () => {
  const folder = await configFolder({});
  const { settings } = await folder.load({
    environment: {
      TOOL_SECRET_KEY: SECRET_KEY,
      TOOL_TARGETS__A__SSO_GROUPS: 'one, two',
      TOOL_TARGETS__A__SUBSET__COPY_TABLES: '["public.a",\n "public.b"]',
      TOOL_TARGETS__A__SUBSET__SUBSET_TABLES: '[{table: public.c, percent: 5}]',
      TOOL_STORAGE_PROFILES: '{team: {provider: s3, bucket: b, region: r}}',
      TOOL_STORAGE_PROFILES__TEAM__PREFIX: 'p',
    },
  });
  expect(settings.targets.a).toEqual({
    sso_groups: ['one', 'two'],
    subset: { copy_tables: ['public.a', 'public.b'], subset_tables: [{ table: 'public.c', percent: 5 }] },
  });
  expect(settings.storage_profiles).toEqual({ team: { provider: 's3', bucket: 'b', region: 'r', prefix: 'p' } });
});

test('no variable sets a command of a load, alone or within a map', async () => {
  const folder = await configFolder({ 'tool.yml': FILE });
  const step = '[{command: touch ran}]';
  const attempts = {
    TOOL_TARGETS__MY_APP__SNAPSHOT__AFTER_LOAD: step,
    TOOL_TARGETS__MY_APP__SNAPSHOT: `{src_url: postgres://h/d, after_load: ${step}}`,
    TOOL_TARGETS__MY_APP: `{snapshot: {after_load: ${step}}}`,
    TOOL_TARGETS: `{My-App: {snapshot: {after_load: ${step}}}}`,
  };
  for (const [name, value] of Object.entries(attempts)) {
    const { problems, configuration } = await folder.inspect({ environment: { [name]: value } });
    const key = 'targets.My-App.snapshot.after_load';
    expect([name, summary(problems)]).toEqual([name, [`file_only ${name} cannot set ${key}`]]);
    expect(configuration).toBeNull();
  }
});

test('a variable of the wrong type is named, and has no place in the file', async () => {
  const folder = await configFolder({ 'tool.yml': FILE });
  const { problems } = await folder.inspect({
    environment: {
      TOOL_DEFAULTS__CPUS: 'four',
      TOOL_DEBUG: 'maybe',
      TOOL_TARGETS__MY_APP__SUBSET__SUBSET_TABLES: 'public.a',
      TOOL_TARGETS__MY_APP__SUBSET__SRC_URL: 'postgres://h/a',
      TOOL_TARGETS__MY_APP__SUBSET__DST_URL: 'postgres://h/b',
      TOOL_TARGETS__MY_APP__STORAGE_PROFILE: 'x',
      TOOL_TARGETS__MY_APP__SNAPSHOT__DST_URL: '{{`NOPE` | env}}',
    },
  });
  expect(summary(problems).sort()).toEqual([
    "storage_profile_not_found storage profile 'x' not found (in TOOL_TARGETS__MY_APP__STORAGE_PROFILE)",
    'template_failed template parsing failed for dst_url: the variable NOPE is not set (in TOOL_TARGETS__MY_APP__SNAPSHOT__DST_URL)',
    'wrong_type TOOL_DEBUG must be true or false, found "maybe"',
    'wrong_type TOOL_DEFAULTS__CPUS must be a whole number, found "four"',
    'wrong_type TOOL_TARGETS__MY_APP__SUBSET__SUBSET_TABLES must be a list, found "public.a"',
  ]);
  for (const problem of problems) expect(problem).toMatchObject({ file: null, line: null, column: null });
});

test('an unknown variable is a warning with the nearest; TOOL_NO_CONFIRM is known', async () => {
  const folder = await configFolder({ 'tool.yml': FILE });
  const { problems } = await folder.inspect({
    environment: {
      TOOL_DEFALTS__CPUS: '1',
      TOOL_TARGETS__X__SNAPSHOT__SRC_URI: 'x',
      TOOL_NO_CONFIRM: 'true',
      TOOL_INSTALL_DIR: '/x',
      OTHER: 'x',
    },
  });
  expect(problems.map(({ severity, key, hint }) => [severity, key, hint])).toEqual([
    ['warning', 'TOOL_DEFALTS__CPUS', 'Did you mean TOOL_DEFAULTS__CPUS?'],
    ['warning', 'TOOL_TARGETS__X__SNAPSHOT__SRC_URI', 'Did you mean TOOL_TARGETS__X__SNAPSHOT__SRC_URL?'],
  ]);
});

test('boolean-like text is a boolean, any other an error, also for TOOL_NO_CONFIRM', async () => {
  const folder = await configFolder({ 'tool.yml': FILE });
  for (const [word, debug] of Object.entries({
    on: true,
    YES: true,
    1: true,
    off: false,
    No: false,
    ' false ': false,
  })) {
    const { settings } = await folder.load({ environment: { TOOL_DEBUG: word, TOOL_NO_CONFIRM: word } });
    expect(settings.debug).toBe(debug);
  }
  for (const word of ['perhaps', 'constructor', '2']) {
    const { problems } = await folder.inspect({ environment: { TOOL_DEBUG: word, TOOL_NO_CONFIRM: word } });
    expect(summary(problems).sort()).toEqual([
      `wrong_type TOOL_DEBUG must be true or false, found "${word}"`,
      `wrong_type TOOL_NO_CONFIRM must be true or false, found "${word}"`,
    ]);
  }
});

test('an empty variable counts as not set', async () => {
  const folder = await configFolder({ 'tool.yml': FILE });
  expect((await folder.load({ environment: { TOOL_DEFAULTS__CPUS: '' } })).settings.defaults.cpus).toBe(2);
});

test('every key that is not only taken from a file can be set by its variable', async () => {
  const folder = await configFolder({});
  const environment: NodeJS.ProcessEnv = {};
  const collect = (shape: Shape, path: string[]): void => {
    if (shape.traits.fileOnly) return;
    if (shape.kind === 'object') for (const [key, child] of shape.keys) collect(child, [...path, key]);
    else if (shape.kind === 'map') collect(shape.of, [...path, 'one']);
    else environment[variableName(path)] = exampleText(shape);
  };
  collect(shapeOf(settingsSchema), []);
  environment.TOOL_SECRET_KEY = SECRET_KEY;
  environment.TOOL_TARGETS__ONE__SUBSET__SUBSET_TABLES = '[{table: a.b, percent: 1}]';
  environment.TOOL_TARGETS__ONE__SUBSET__EXCLUDED_RELATIONSHIPS = '[{fk_table: a.b, ref_table: a.c}]';
  environment.TOOL_TARGETS__ONE__SUBSET__ADDED_RELATIONSHIPS =
    '[{fk_table: a.b, fk_columns: c, ref_table: a.c, ref_columns: id}]';
  for (const key of ['STORAGE_PROFILE', 'SANITIZE__STORAGE_PROFILE', 'SHARE__STORAGE_PROFILE_NAME']) {
    environment[`TOOL_TARGETS__ONE__${key}`] = 'one';
  }
  const { configuration, problems } = await folder.inspect({ environment: { ...environment, APP_PASSWORD: 'x' } });
  expect(Object.keys(environment).length).toBeGreaterThan(45);
  expect(problems.map(({ code }) => code)).toEqual([
    'originals_shared',
    'storage_key_unused',
    'cli_profile_not_found',
    'cli_profile_wins',
  ]);
  expect(configuration?.settings.targets.one?.snapshot?.schema_config?.use_default_schema).toBe(true);
});

function exampleText(shape: Shape): string {
  const example = shape.default ?? shape.example;
  return Array.isArray(example) ? example.join(',') : String(example);
}
