import { expect, test } from 'vitest';
import { configured, problemsOf, SECRET_KEY } from '../helpers/configured.ts';

/** The messages and hints of a configuration that begins with a good secret key in its first line. */
async function saidOf(content: string): Promise<{ message: string; hint: string | null }[]> {
  const { problems } = await configured(SECRET_KEY + content);
  return problems.map(({ message, hint }) => ({ message, hint }));
}

const target = (content: string): string => `targets:\n  app:\n${content.replace(/^/gm, '    ')}\n`;

test('all problems are told at once, in the order of the file, with line and column', async () => {
  const file = `secret_key: abc
workdir: x
defaults: {cpus: four}
targets:
  app:
    nmae: x
    storage_profile: nope
    snapshot:
      src_url: postgres://h/d
      dst_url: mysql://h/d
      schema_config: {include_schemas: [a, b], exclude_schemas: [c, b]}
    subset:
      subset_tables:
        - {table: orders, where: "true", percent: 5}
`;
  expect(await problemsOf(file, { TOOL_DEBUG: 'maybe' })).toEqual([
    '1:13 invalid_value',
    '2:1 unknown_key',
    '3:18 wrong_type',
    '6:5 unknown_key',
    '7:22 storage_profile_not_found',
    '10:16 engines_differ',
    '11:69 schema_in_both_lists',
    '14:11 where_and_percent',
    '14:19 invalid_value',
    'debug wrong_type',
  ]);
});

test('a missing secret key names the command that writes one, at the beginning of the file', async () => {
  const { problems } = await configured('debug: true\n');
  expect(problems).toMatchObject([
    { code: 'missing_key', key: 'secret_key', line: 1, column: 1, hint: expect.stringContaining('tool config init') },
  ]);
});

test.each(['0123456789abcdef0123456789abcde', '0123456789abcdef0123456789abcdef0', '0123456789abcdef0123456789abcdeg'])(
  'the secret key %s is refused, and not repeated',
  async (key) => {
    const { problems } = await configured(`secret_key: "${key}"\n`);
    expect(problems).toMatchObject([{ message: 'secret_key must be exactly 32 hexadecimal characters' }]);
  },
);

test.each([
  ['targts: {}', 'Did you mean targets?'],
  [target('snapshto: {}'), 'Did you mean snapshot?'],
  [target('snapshot: {src-url: x}'), 'Did you mean src_url?'],
  ['cpus: 4', 'It belongs at defaults.cpus or targets.<name>.cpus.'],
])('an unknown key is an error that names the right one: %s', async (content, hint) => {
  expect(await saidOf(content)).toEqual([{ message: expect.stringMatching(/^unknown key /), hint }]);
});

test.each([
  ['defaults: {cpus: four}', 'defaults.cpus must be a whole number, found "four"', null],
  ['defaults: {cpus: "4"}', 'defaults.cpus must be a whole number, found "4"', 'Write it without quotes.'],
  ['debug: "true"', 'debug must be true or false, found "true"', 'Write it without quotes.'],
  ['targets: [app]', 'targets must be a map of keys, found a list', 'Write "key: value" lines, without dashes.'],
  ['docker: []', 'docker must be a map of keys, found a list', expect.anything()],
  ['targets: {app: 5}', 'targets.app must be a map of keys, found the number 5', null],
  [target('name: 5'), 'targets.app.name must be text, found the number 5', 'Put the value in quotes.'],
  [target('sso_groups: admins'), 'targets.app.sso_groups must be a list, found "admins"', null],
  [target('sso_groups: [1]'), 'targets.app.sso_groups[0] must be text, found the number 1', 'Put the value in quotes.'],
  ['env: prod', 'env must be one of development, staging, production, found "prod"', null],
  ['authtoken: 4711', 'authtoken must be text, found a number', 'Put the value in quotes.'],
])('a wrong type is told with what was found: %s', async (content, message, hint) => {
  expect(await saidOf(content)).toEqual([{ message, hint }]);
});

test.each([
  ['copy_tables: [orders]', 'copy_tables[0]'],
  ['excluded_tables: [a.b.c]', 'excluded_tables[0]'],
  ['subset_tables: [{table: orders}]', 'subset_tables[0].table'],
  ['excluded_relationships: [{fk_table: orders, ref_table: public.a}]', 'excluded_relationships[0].fk_table'],
])('a table is named with its schema: %s', async (content, key) => {
  const message = `targets.app.subset.${key} must be a table with its schema: schema.table`;
  expect(await saidOf(target(`subset: {${content}}`))).toMatchObject([{ message }]);
});

test('a URL without a scheme that an engine knows is refused, and not repeated', async () => {
  const [said] = await saidOf(target('snapshot: {src_url: "oracle://u:hunter2@h/d"}'));
  expect(said?.message).toBe(
    'targets.app.snapshot.src_url must be a connection URL with the scheme postgres, postgresql or mysql',
  );
});

test('a schema in both lists is an error with the words of the reference', async () => {
  const lists = 'snapshot: {schema_config: {include_schemas: [audit], exclude_schemas: [audit]}}';
  expect(await saidOf(target(lists))).toMatchObject([
    { message: "schema 'audit' cannot be in both include and exclude lists" },
  ]);
});

test.each(['storage_profile: x', 'sanitize: {storage_profile: x}', 'share: {storage_profile_name: x}'])(
  'a storage profile that is not defined is an error: %s',
  async (content) => {
    expect(await saidOf(target(content))).toMatchObject([{ message: "storage profile 'x' not found" }]);
    const defined = 'storage_profiles: {x: {provider: s3, bucket: b}}\n';
    expect(await saidOf(defined + target(content))).toEqual([]);
  },
);

test('a storage profile with a mistake in it is still defined', async () => {
  const file = `${SECRET_KEY}storage_profiles: {x: {provider: s3}}\n${target('storage_profile: x')}`;
  expect(await problemsOf(file)).toEqual(['2:20 missing_key']);
});

test('where and percent exclude each other', async () => {
  const both = 'subset: {subset_tables: [{table: public.a, where: "true", percent: 5}]}';
  expect(await saidOf(target(both))).toMatchObject([{ message: 'use either where or percent for public.a, not both' }]);
});

test.each([
  ['snapshot: {src_url: postgres://h/d, dst_url: mysql://h/e}', ['snapshot']],
  ['snapshot: {src_url: mysql://h/d}\nsanitize: {dst_url: postgresql://h/e}', ['sanitize']],
  ['subset: {src_url: postgres://h/d, dst_url: mysql://h/e}', ['subset']],
  ['snapshot: {src_url: postgres://h/d, dst_url: postgresql://h/e}', []],
])('source and destination have the same engine: %s', async (content, operations) => {
  const { problems } = await configured(SECRET_KEY + target(content));
  const keys = operations.map((operation) => `targets.app.${operation}.dst_url`);
  expect(problems.map(({ code, key }) => [code, key])).toEqual(keys.map((key) => ['engines_differ', key]));
});

test('a destination that is the source of another target is a warning, whoever connects', async () => {
  const file = `${SECRET_KEY}targets:
  live: {snapshot: {src_url: "postgres://reader:a@h/d?sslmode=require"}}
  copy: {snapshot: {src_url: postgres://h/other, dst_url: "postgres://owner:b@h/d"}}
`;
  const { configuration, problems } = await configured(file);
  expect(configuration).not.toBeNull();
  expect(problems).toMatchObject([
    { severity: 'warning', code: 'destination_is_source', key: 'targets.copy.snapshot.dst_url', line: 4, column: 59 },
  ]);
});

test.each(['__proto__', 'constructor', 'a/b', '""', '"-x"'])('%s is no name for a target', async (name) => {
  expect(await problemsOf(`${SECRET_KEY}targets:\n  ${name}: {cpus: 1}\n`)).toEqual(['3:3 invalid_name']);
});

test('a key without a value counts as not set', async () => {
  const { configuration, problems } = await configured(`${SECRET_KEY}authtoken:\ntargets:\n  app:\n    snapshot:\n`);
  expect(problems).toEqual([]);
  expect(configuration?.settings.targets).toEqual({ app: {} });
});
