import { expect, test } from 'vitest';
import { configFolder, summary, withKey } from '../helpers/terminal/config-folder.ts';

/** Lines after `secret_key`, which is line 1, and what is said about them. */
const CASES: { title: string; text: string; problems: string[]; hint?: string }[] = [
  {
    title: 'an unknown key names the nearest',
    text: 'storage_profile: {}\n',
    problems: ['2:1 unknown_key unknown key storage_profile'],
    hint: 'Did you mean storage_profiles?',
  },
  {
    title: 'a known key in the wrong place is told its place',
    text: 'targets:\n  app:\n    query_file: x.sql\n    snapshot: {}\n',
    problems: ['4:5 unknown_key unknown key targets.app.query_file'],
    hint: 'It belongs at targets.<name>.snapshot.after_load[].query_file or targets.<name>.sanitize.query_file.',
  },
  {
    title: 'a wrong type says what was found',
    text: 'debug: yes\ndefaults:\n  cpus: 1.5\ntargets: []\n',
    problems: [
      '2:8 wrong_type debug must be true or false, found "yes"',
      '4:9 wrong_value defaults.cpus must be a whole number',
      '5:10 wrong_type targets must be a map of keys, found a list',
    ],
  },
  {
    title: 'a wrong type of a secret does not say what was found',
    text: 'authtoken: 123456789\n',
    problems: ['2:12 wrong_type authtoken must be text, found a number'],
    hint: 'Put the value in quotes.',
  },
  {
    title: 'a value that is none of the choices is told them',
    text: 'env: prod\n',
    problems: ['2:6 wrong_value env must be one of development, staging, production, found "prod"'],
  },
  {
    title: 'cores are at least one',
    text: 'defaults: {cpus: 0}\n',
    problems: ['2:18 wrong_value defaults.cpus must be at least 1'],
  },
  {
    title: 'a schema cannot be in both lists',
    text: 'targets:\n  app:\n    snapshot:\n      schema_config: {include_schemas: [a, b], exclude_schemas: [b]}\n',
    problems: ["5:66 schema_in_both_lists schema 'b' cannot be in both include and exclude lists"],
  },
  {
    title: 'a storage profile must be defined, wherever it is named',
    text: [
      'storage_profiles: {team: {provider: minio, bucket: b, endpoint: "http://h:9000"}}',
      'targets:',
      '  app:',
      '    storage_profile: x',
      '    sanitize: {storage_profile: y}',
      '    share: {storage_profile_name: taem}',
      '',
    ].join('\n'),
    problems: [
      "5:22 storage_profile_not_found storage profile 'x' not found",
      "6:33 storage_profile_not_found storage profile 'y' not found",
      "7:35 storage_profile_not_found storage profile 'taem' not found",
    ],
    hint: 'Did you mean team? Profiles are defined below storage_profiles.',
  },
  {
    title: 'each provider needs what it needs',
    text: [
      'storage_profiles:',
      '  a: {provider: s3, bucket: b}',
      '  b: {provider: r2, bucket: b, access_key: k}',
      '  c: {provider: dospaces, endpoint: nowhere}',
      '',
    ].join('\n'),
    problems: [
      "3:7 storage_profile_incomplete storage profile 'a' needs region, since its provider is s3",
      "4:7 storage_profile_incomplete storage profile 'b' needs account_id or endpoint, since its provider is r2",
      "4:32 storage_profile_incomplete storage profile 'b' needs secret_key beside access_key",
      '5:3 missing_key storage_profiles.c.bucket is missing',
      '5:37 wrong_value storage_profiles.c.endpoint must be a URL that begins with http:// or https://',
    ],
  },
  {
    title: 'the rows of a subset are chosen by where or by percent',
    text: [
      'targets:',
      '  app:',
      '    subset: {src_url: postgres://h/a, dst_url: postgres://h/b,',
      '      subset_tables: [',
      '          {table: public.a, where: x, percent: 5},',
      '          {table: public.b},',
      '          {table: c, percent: 101}]}',
      '',
    ].join('\n'),
    problems: [
      '6:48 wrong_value where and percent are both set for public.a',
      '7:11 wrong_value neither where nor percent is set for public.b',
      '8:19 wrong_value targets.app.subset.subset_tables[2].table must be a table with its schema: schema.table',
      '8:31 wrong_value targets.app.subset.subset_tables[2].percent must be at most 100',
    ],
  },
  {
    title: 'source and destination are of one engine',
    text: 'targets:\n  app:\n    snapshot: {src_url: postgresql://h/d, dst_url: mysql://h/d}\n',
    problems: ["4:52 engines_differ the source of target 'app' is postgres, its destination mysql"],
  },
  {
    title: 'a destination is not the source, however the two are spelled',
    text: 'targets:\n  app:\n    snapshot: {src_url: postgres://a:b@Host:5432/d, dst_url: postgresql://host/d}\n',
    problems: ["4:62 destination_is_source this destination is the source of target 'app'"],
  },
  {
    title: 'a destination that is the source of another target is a warning',
    text: 'override: {dst_db_url: mysql://h/d}\ntargets:\n  app:\n    snapshot: {src_url: mysql://h:3306/d}\n',
    problems: ["2:24 destination_is_source this destination is the source of target 'app'"],
  },
  {
    title: 'a connection URL has a known scheme',
    text: 'targets: {app: {snapshot: {src_url: oracle://h/d}}}\noverride: {dst_db_url: "x{{`team`}}"}\n',
    problems: [
      '2:37 wrong_value targets.app.snapshot.src_url must be a connection URL with the scheme postgres, postgresql, pgdocker, mysql, mariadb or mydocker',
      '3:24 wrong_value override.dst_db_url must be a connection URL with the scheme postgres, postgresql, pgdocker, mysql, mariadb or mydocker',
    ],
  },
  {
    title: 'names are such as a path and a command line can hold',
    text: 'targets:\n  ../up: {snapshot: {}}\n  __proto__: {share: {}}\n',
    problems: [
      '3:3 invalid_name targets.../up is not a valid name: it must be a name of letters, digits, ".", "_", "-" and spaces',
      '4:3 invalid_name targets.__proto__ is a reserved name',
    ],
  },
  {
    title: 'a duplicate key is a problem',
    text: 'debug: true\ntrace: true\ndebug: false\n',
    problems: ['4:1 yaml_syntax duplicate key debug'],
  },
  {
    title: 'a template needs its quotes',
    text: 'targets:\n  app:\n    snapshot:\n      src_url: {{`X` | env}}\n',
    problems: ['5:18 yaml_syntax not valid YAML: Plain value cannot start with reserved character `'],
    hint: 'Quote a value that begins with {{: "{{`NAME` | env}}".',
  },
  {
    title: 'a template that is wrong is located within the value',
    text: 'targets:\n  app:\n    snapshot:\n      src_url: "postgres://u:{{`X` | foo}}@h/d"\n',
    problems: ['5:38 template_failed template parsing failed for src_url: only env may follow the |'],
  },
  {
    title: 'a query file must be there',
    text: 'targets: {app: {sanitize: {query_file: nope.sql}}}\n',
    problems: ["2:40 query_file_not_found query file 'nope.sql' not found"],
  },
];

test.for(CASES)('$title', async ({ text, problems, hint }) => {
  const folder = await configFolder({ 'tool.yml': withKey(text) });
  const inspection = await folder.inspect({ environment: { AWS_PROFILE: 'team' } });
  expect(summary(inspection.problems)).toEqual(problems);
  for (const problem of inspection.problems) expect(problem.file).toBe(`${folder.path}/tool.yml`);
  if (hint !== undefined) expect(inspection.problems.at(-1)?.hint).toBe(hint);
});

test.for(['0123456789abcdef', `${'0'.repeat(31)}g`, '0'.repeat(33)])(
  'secret_key %s is refused without being repeated',
  async (key) => {
    const folder = await configFolder({ 'tool.yml': `secret_key: "${key}"\n` });
    const { configuration, problems } = await folder.inspect();
    expect(configuration).toBeNull();
    expect(summary(problems)).toEqual([
      '1:13 wrong_value secret_key must be exactly 32 hexadecimal characters, or the word keychain',
    ]);
  },
);

test('an alias has the value of its anchor, and << merges a map below explicit keys', async () => {
  const text = 'targets:\n  a: &a {cpus: 2, name: A, snapshot: {}}\n  b: {<<: *a, name: B}\n  c: *a\n';
  const folder = await configFolder({ 'tool.yml': withKey(text) });
  const { targets } = (await folder.load()).settings;
  expect(targets).toEqual({
    a: { cpus: 2, name: 'A', snapshot: {} },
    b: { cpus: 2, name: 'B', snapshot: {} },
    c: { cpus: 2, name: 'A', snapshot: {} },
  });
});

test('a name may be of any script, with its marks, in one spelling only', async () => {
  const names = ['हिन्दी', 'ภาษาไทย', 'العَرَبِيَّة', '漢字', 'crème', 'Ω 2'];
  const folder = await configFolder({
    'tool.yml': withKey(`targets:\n${names.map((name) => `  ${name}: { snapshot: {} }\n`).join('')}`),
  });
  const { problems } = await folder.inspect();
  expect(problems.filter(({ code }) => code === 'invalid_name')).toEqual([]);
  const other = await configFolder({
    'tool.yml': withKey(`targets:\n  ${'crème'.normalize('NFD')}: { snapshot: {} }\n`),
  });
  const [problem] = (await other.inspect()).problems.filter(({ code }) => code === 'invalid_name');
  expect(problem?.message).toContain('normalization form C');
});
