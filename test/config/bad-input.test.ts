import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Problem } from '../../src/config/configuration.ts';
import { inspectConfiguration } from '../../src/config/load.ts';

const SECRET_KEY = 'secret_key: "0123456789abcdef0123456789abcdef"\n';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-bad-input-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function configured(content: string | Uint8Array, variables: Record<string, string> = {}) {
  await writeFile(join(folder, 'tool.yml'), content, { mode: 0o600 });
  return inspectConfiguration({ environment: { HOME: folder, ...variables }, cwd: folder });
}

async function problemsOf(content: string | Uint8Array): Promise<string[]> {
  const { problems } = await configured(content);
  return problems.map(({ line, column, code }) => `${line}:${column} ${code}`);
}

test.each([
  ['a byte order mark', `\uFEFF${SECRET_KEY}debgu: 1\n`, '2:1 unknown_key'],
  ['a byte order mark on the line of the mistake', `\uFEFFdebgu: 1\n${SECRET_KEY}`, '1:1 unknown_key'],
  ['Windows line ends', `${SECRET_KEY.trim()}\r\ndebug: true\r\n  debgu: 1\r\n`, '2:8 yaml_syntax'],
  ['Windows line ends before a wrong value', `${SECRET_KEY.trim()}\r\ndefaults:\r\n  cpus: x\r\n`, '3:9 wrong_type'],
  ['a tab as indentation', `${SECRET_KEY}defaults:\n\tcpus: 4\n`, '3:1 yaml_syntax'],
  ['a NUL', `${SECRET_KEY}debug: t\0rue\n`, '2:9 control_character'],
  ['bytes that are no UTF-8', Buffer.from([...Buffer.from('a: b\nc: \xE4'), 0xff]), '2:5 not_utf8'],
  ['UTF-16', Buffer.from(SECRET_KEY, 'utf16le'), '1:2 control_character'],
  ['a quote that is not closed', `${SECRET_KEY}authtoken: "abc\n`, '3:1 yaml_syntax'],
  ['a second document', `${SECRET_KEY}---\ndebug: true\n`, '2:1 yaml_syntax'],
  ['a list', '- a\n- b\n', '1:1 wrong_type'],
  ['text', 'hello', '1:1 wrong_type'],
  ['a key twice', `${SECRET_KEY}debug: true\ndebug: false\n`, '3:1 duplicate_key'],
  ['an alias to nothing', `${SECRET_KEY}authtoken: *gone\n`, '2:12 yaml_syntax'],
  ['a tag that nobody knows', `${SECRET_KEY}authtoken: !vault x\n`, '2:12 yaml_syntax'],
  ['brackets nested a hundred deep', `${SECRET_KEY}targets: ${'['.repeat(100)}${']'.repeat(100)}\n`, '2:50 too_deep'],
])('%s is a problem with its place', async (_what, content, problem) => {
  expect(await problemsOf(content)).toContain(problem);
});

test('an empty file is one that lacks its secret key', async () => {
  expect(await problemsOf('')).toEqual(['1:1 missing_key']);
});

test('a template that stands without quotes gets the hint to put it in quotes', async () => {
  for (const value of ['{{`URL` | env}}', '{{ URL }}']) {
    const { problems } = await configured(`${SECRET_KEY}targets: {}\noverride:\n  dst_db_url: ${value}\n`);
    expect(problems).toContainEqual(expect.objectContaining({ line: 4, hint: expect.stringContaining('quotes') }));
  }
});

test('of a file that is no YAML nothing is said to be missing', async () => {
  expect(await problemsOf('debug: "true\n')).toEqual(['2:1 yaml_syntax']);
});

test('aliases and merges are followed', async () => {
  const file = `${SECRET_KEY}targets:\n  a: &base {cpus: 2, name: A}\n  b: {<<: *base, name: B}\n  c: *base\n`;
  const { configuration } = await configured(file);
  expect(configuration?.settings.targets).toEqual({
    a: { cpus: 2, name: 'A' },
    b: { cpus: 2, name: 'B' },
    c: { cpus: 2, name: 'A' },
  });
});

test('aliases that would fill the memory are a problem', async () => {
  const levels = Array.from({ length: 30 }, (_, level) => {
    const items = level === 0 ? 'x' : Array.from({ length: 9 }, () => `*l${level - 1}`).join(', ');
    return `l${level}: &l${level} [${items}]`;
  });
  expect(await problemsOf(`${levels.join('\n')}\n`)).toContainEqual(
    expect.stringMatching(/^\d+:\d+ too_many_aliases$/),
  );
});

test.each([
  ['behind a quoted value', 'authtoken: "a" hunter2\n'],
  ['behind a closing brace', '{authtoken: a}} hunter2\n'],
  ['that begins with a star', 'authtoken: *hunter2\n'],
  ['that begins with an exclamation mark', 'authtoken: !hunter2 x\n'],
  ['in a block header', 'authtoken: >hunter2\n'],
  ['of the wrong type', 'authtoken: [hunter2]\noverride: {dst_db_url: {x: hunter2}}\n'],
  ['in a URL of no engine', 'override: {dst_db_url: "db://u:hunter2@h/d"}\n'],
  ['in a key that is too short', 'secret_key: hunter2\n'],
])('a secret %s is not repeated in a problem', async (_where, content) => {
  const { problems } = await configured(content);
  expect(problems).not.toEqual([]);
  expect(JSON.stringify(problems)).not.toContain('hunter2');
});

const GOOD = `${SECRET_KEY}defaults: {cpus: 2}
storage_profiles:
  team: &team {provider: s3, bucket: snapshots, region: eu-central-1}
targets:
  app:
    storage_profile: team
    snapshot:
      src_url: postgres://u:p@db.example.com:5432/app
      dst_url: "postgres://localhost/app_copy"
      schema_config:
        include_schemas: [public, sales]
    subset:
      subset_tables:
        - table: public.orders
          where: "created_at > '2026-01-01'"
  shared: {share: {storage_profile_name: team}}
`;

/** The good file with something else in the place of a part of it. */
const damaged = fc
  .record({
    start: fc.nat(GOOD.length),
    length: fc.nat(20),
    inserted: fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\t',
        '\r',
        '\0',
        '{{',
        '}}',
        '[',
        '{',
        '*a',
        '&a',
        '<<: *team',
        '? ',
        '- ',
        ': ',
        '|',
        '---\n',
        '%YAML 1.1\n',
        '!!set ',
        '"',
        "'",
        '__proto__',
      ),
    ),
  })
  .map(({ start, length, inserted }) => GOOD.slice(0, start) + inserted + GOOD.slice(start + length));

const anyContent = fc.oneof(damaged, fc.uint8Array({ maxLength: 300 }), fc.json({ maxDepth: 5 }), fc.string());

const anyVariables = fc.dictionary(
  fc
    .array(
      fc.constantFrom(
        'TARGETS',
        'APP',
        'SNAPSHOT',
        'SRC_URL',
        'CPUS',
        'DEFAULTS',
        'SSO',
        '',
        '__PROTO__',
        'SUBSET',
        'COPY_TABLES',
        'X',
      ),
    )
    .map((parts) => `TOOL_${parts.join('__')}`),
  fc.oneof(fc.string(), fc.json(), fc.constantFrom('[', '{', '*a', '[*a]', '4', 'true')),
  { maxKeys: 4 },
);

test('whatever is written, nothing crashes and every error has a place in the file or names its variable', async () => {
  await fc.assert(
    fc.asyncProperty(anyContent, anyVariables, async (content, variables) => {
      const { configuration, problems } = await configured(content, variables);
      const text = Buffer.from(content).toString('utf8');
      for (const problem of problems) expect(isLocated(problem, { text, variables })).toBe(true);
      const isValid = problems.every(({ severity, code }) => severity === 'warning' || code === 'template_failed');
      expect(configuration !== null).toBe(isValid);
    }),
    { numRuns: 400 },
  );
});

function isLocated(
  { message, file, line, column }: Problem,
  { text, variables }: { text: string; variables: Record<string, string> },
): boolean {
  if (line === null || column === null) return Object.keys(variables).some((name) => message.includes(name));
  // A last line that has ended may be where something is missing.
  return file !== null && line >= 1 && line <= text.split('\n').length && column >= 1;
}
