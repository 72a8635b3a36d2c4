import { describe, expect, test } from 'vitest';
import { variableName } from '../../src/config/environment.ts';
import { settingsSchema } from '../../src/config/schema/settings.ts';
import { type Shape, shapeOf } from '../../src/config/schema/shape.ts';
import { configured, problemsOf, SECRET_KEY, settingsOf } from '../helpers/configured.ts';

/** What is required of the maps' items, so that each variable can be tried on its own. */
const BASE = `${SECRET_KEY}
sso: {idp: {provider_url: https://idp.example.com, client_id: tool}}
storage_profiles: {team: {provider: minio, bucket: other}}
targets: {app: {cpus: 7}}
`;
const NAMES: Record<string, string> = { sso: 'idp', storage_profiles: 'team', targets: 'app' };

interface Key {
  path: string[];
  shape: Shape;
}

/** Every key of the schema that holds a value or a list; maps get the name that BASE gives them. */
function keysOf(shape: Shape, path: string[] = []): Key[] {
  if (shape.kind === 'object') return [...shape.keys].flatMap(([key, child]) => keysOf(child, [...path, key]));
  if (shape.kind === 'map') return keysOf(shape.of, [...path, NAMES[path[0] ?? ''] ?? '?']);
  return [{ path, shape }];
}

/** A value that the key takes and that is not its default. */
function sampleOf(shape: Shape): unknown {
  if (shape.kind === 'list') return [sampleOf(shape.of)];
  if (shape.kind === 'object') {
    const required = [...shape.keys].filter(([, child]) => child.required);
    return Object.fromEntries(required.map(([key, child]) => [key, sampleOf(child)]));
  }
  if (shape.kind === 'map') throw new Error('No list of the configuration holds maps');
  if (shape.traits.path) return '/srv/somewhere';
  if (shape.traits.template) return 'postgres://db.example.com:5432/app';
  if (shape.type === 'boolean') return true;
  return shape.example ?? shape.choices[0] ?? 'https://example.com';
}

const written = (value: unknown): string => (Array.isArray(value) ? JSON.stringify(value) : String(value));

const KEYS = keysOf(shapeOf(settingsSchema));

describe('every key of the schema has a variable that wins over the file', () => {
  test.each(KEYS.map(({ path, shape }) => ({ name: variableName(path), path, shape })))('$name', async (key) => {
    const sample = sampleOf(key.shape);
    const settings = await settingsOf(BASE, { [key.name]: written(sample) });
    expect(settings).toHaveProperty(key.path, sample);
  });

  test('the reference names them like this', () => {
    expect(KEYS.map(({ path }) => variableName(path))).toEqual(
      expect.arrayContaining([
        'TOOL_SECRET_KEY',
        'TOOL_AUTHTOKEN',
        'TOOL_WORKING_DIRECTORY',
        'TOOL_ENV',
        'TOOL_OVERRIDE__SAN_QUERY',
        'TOOL_OVERRIDE__DST_DB_URL',
        'TOOL_DEFAULTS__SHARED_TARGET_DST_DB_URL',
        'TOOL_DOCKER__IMAGES__POSTGRES',
        'TOOL_DOCKER__IMAGES__MYSQL',
        'TOOL_TARGETS__APP__SNAPSHOT__SRC_URL',
        'TOOL_TARGETS__APP__SNAPSHOT__SCHEMA_CONFIG__INCLUDE_SCHEMAS',
        'TOOL_TARGETS__APP__SUBSET__SUBSET_TABLES',
        'TOOL_STORAGE_PROFILES__TEAM__ACCESS_KEY',
        'TOOL_SSO__IDP__CLIENT_ID',
      ]),
    );
  });
});

test('a name in a map matches without regard to case, - and _ alike, and keeps its spelling', async () => {
  const file = `${SECRET_KEY}targets: {My-Shop_db: {cpus: 1}}\n`;
  const settings = await settingsOf(file, { TOOL_TARGETS__MY_SHOP_DB__CPUS: '3' });
  expect(settings.targets).toEqual({ 'My-Shop_db': { cpus: 3 } });
});

test('a name that is not in the file is taken over in lower case', async () => {
  const settings = await settingsOf(SECRET_KEY, { TOOL_TARGETS__NEW_ONE__CPUS: '3' });
  expect(settings.targets).toEqual({ new_one: { cpus: 3 } });
});

test('a variable that two names match is an error that names them', async () => {
  const file = `${SECRET_KEY}targets: {a-b: {cpus: 1}, a_b: {cpus: 1}}\n`;
  const { configuration, problems } = await configured(file, { TOOL_TARGETS__A_B__CPUS: '3' });
  expect(configuration).toBeNull();
  expect(problems).toMatchObject([
    { code: 'ambiguous_variable', message: 'TOOL_TARGETS__A_B__CPUS could mean a-b or a_b' },
  ]);
});

test.each([
  ['a,b', ['a', 'b']],
  [' a , b ', ['a', 'b']],
  ['[a, "b,c"]', ['a', 'b,c']],
  ['only', ['only']],
])('a list is read from %j', async (value, list) => {
  const settings = await settingsOf(BASE, { TOOL_TARGETS__APP__SSO_GROUPS: value });
  expect(settings.targets.app?.sso_groups).toEqual(list);
});

test('a whole map is read from YAML, and more precise variables are laid over it', async () => {
  const settings = await settingsOf(SECRET_KEY, {
    TOOL_TARGETS__APP__CPUS: '8',
    TOOL_TARGETS__APP: '{name: Shop, cpus: 2}',
  });
  expect(settings.targets).toEqual({ app: { name: 'Shop', cpus: 8 } });
});

test.each([
  ['TOOL_DEFAULTS__CPUS', 'four', 'TOOL_DEFAULTS__CPUS must be a whole number, found "four"'],
  ['TOOL_DEFAULTS__CPUS', '1.5', 'TOOL_DEFAULTS__CPUS must be a whole number'],
  ['TOOL_DEBUG', 'maybe', 'TOOL_DEBUG must be true or false, found "maybe"'],
  ['TOOL_ENV', 'test', 'TOOL_ENV must be one of development, staging, production, found "test"'],
  ['TOOL_SECRET_KEY', 'hunter2', 'TOOL_SECRET_KEY must be exactly 32 hexadecimal characters'],
  [
    'TOOL_TARGETS__APP__STORAGE_PROFILE',
    'gone',
    "storage profile 'gone' not found (in TOOL_TARGETS__APP__STORAGE_PROFILE)",
  ],
])('a wrong value in %s is an error that names the variable', async (name, value, message) => {
  const { configuration, problems } = await configured(BASE, { [name]: value });
  expect(configuration).toBeNull();
  expect(problems).toMatchObject([{ severity: 'error', message, file: null, line: null, column: null }]);
});

test('what a variable replaces in the file is not looked at', async () => {
  expect(await problemsOf(`${SECRET_KEY}defaults: {cpus: many}\n`, { TOOL_DEFAULTS__CPUS: '2' })).toEqual([]);
});

test('an unknown TOOL_ variable is a warning that names the nearest', async () => {
  const { configuration, problems } = await configured(BASE, { TOOL_AUTHTOKN: 'x', TOOL_TARGETS__APP__CPU: '1' });
  expect(configuration).not.toBeNull();
  expect(problems).toMatchObject([
    { severity: 'warning', code: 'unknown_variable', key: 'TOOL_AUTHTOKN', hint: 'Did you mean TOOL_AUTHTOKEN?' },
    { severity: 'warning', code: 'unknown_variable', hint: 'Did you mean TOOL_TARGETS__APP__CPUS?' },
  ]);
});

test('TOOL_NO_CONFIRM and empty variables say nothing about the configuration', async () => {
  expect(await problemsOf(BASE, { TOOL_NO_CONFIRM: 'true', TOOL_DEFAULTS__CPUS: '', TOOLS: 'x' })).toEqual([]);
});
