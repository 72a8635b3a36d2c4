import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Inspection } from '../../src/config/load.ts';
import { configFolder, summary, withKey } from '../helpers/config-folder.ts';

const MB = 1_000_000;

/** What somebody or something may have written, and what is said first about it. */
const CASES: [string, string | Uint8Array, string][] = [
  ['a tab', 'targets:\n\ta: 1\n', '2:1 yaml_syntax not valid YAML: Tabs are not allowed as indentation'],
  ['NUL', withKey('env: a\0b\n'), '2:7 control_character the control character U+0000 is not allowed'],
  ['Latin-1', Buffer.from('a: \xe9\n', 'latin1'), '1:4 not_utf8 not UTF-8'],
  ['UTF-16', Buffer.from('\ufeffdebug: true', 'utf16le'), '1:1 not_utf8 not UTF-8'],
  ['a word', 'hello', '1:1 wrong_type the configuration must be a map of keys'],
  ['nothing', '', '1:1 missing_key secret_key is missing'],
  ['two documents', 'debug: true\n---\n', '2:1 yaml_syntax not valid YAML: a configuration is one document'],
  ['an open quote', 'env: "x\n', '2:1 yaml_syntax not valid YAML: a quote or bracket is not closed'],
  ['an alias to itself', 'a: &a [*a]', '1:8 yaml_syntax not valid YAML: nothing before has the name of this alias'],
  ['a bomb of aliases', bomb(), '5:8 too_many_aliases aliases stand for more than 10000 values'],
  ['a million brackets', '['.repeat(MB), '1:121 too_deep nested deeper than 40 levels'],
  ['a million dashes', '- '.repeat(MB / 2), '1:240 too_deep nested deeper than 40 levels'],
  ['a deep staircase', staircase(1300), '120:121 too_deep nested deeper than 40 levels'],
  ['a million lines', '\n'.repeat(MB), 'file_too_large'],
  ['a million keys', Array.from({ length: MB / 8 }, (_, i) => `k${i}: 1`).join('\n'), 'file_too_large'],
  ['the same key again and again', 'a: 1\n'.repeat(MB / 5), 'file_too_large'],
  ['30,000 unknown keys', Array.from({ length: 30_000 }, (_, i) => `k${i}: 1`).join('\n'), '1:1 unknown_key'],
  ['a megabyte without end', `"${'x'.repeat(MB)}`, 'yaml_syntax not valid YAML: a quote or bracket is not closed'],
  ['five megabytes', 'a'.repeat(5 * MB), '1:1 file_too_large larger than 4 MB, which no configuration is'],
];

test.for(CASES)('%s is answered at once, with its place', async ([, content, expected]) => {
  const folder = await configFolder({ 'tool.yml': content });
  const { configuration, problems } = await folder.inspect();
  expect(configuration).toBeNull();
  expect(summary(problems)[0]).toContain(expected);
  expectPlaces({ problems });
});

test('a byte order mark and the line ends of Windows do no harm', async () => {
  const folder = await configFolder({ 'tool.yml': `\ufeff${withKey('debug: true\n').replaceAll('\n', '\r\n')}` });
  expect((await folder.load()).settings.debug).toBe(true);
});

test('whatever is done to a configuration or its variables, each error has its place and no crash comes', async () => {
  const folder = await configFolder({ 'tool.yml': '' });
  const pieces = fc.constantFrom(
    ...VALID.split(/(?<=[\n: ,[\]{}"])/),
    '\t',
    '{{',
    '&a ',
    '*a',
    '<<: ',
    '[',
    '- ',
    '"',
    '\0',
    '# ',
    '1e9',
  );
  const edits = fc.array(fc.record({ at: fc.nat(VALID.length), cut: fc.nat(12), put: fc.oneof(pieces, fc.string()) }), {
    minLength: 1,
    maxLength: 6,
  });
  const variables = fc.dictionary(
    fc.constantFrom(
      'TOOL_DEFAULTS__CPUS',
      'TOOL_TARGETS',
      'TOOL_TARGETS__APP__SNAPSHOT__SRC_URL',
      'TOOL_TARGETS__APP',
      'TOOL___',
      'TOOL_SSO__X',
      'TOOL_TARGETS__APP__SUBSET__COPY_TABLES',
    ),
    fc.oneof(fc.string(), pieces, fc.constantFrom('{', '[]', '{app: 1}', '__proto__')),
  );
  await fc.assert(
    fc.asyncProperty(edits, variables, async (changes, environment) => {
      await folder.write(
        'tool.yml',
        changes.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), VALID),
      );
      const inspection = await folder.inspect({ environment });
      expect(inspection.configuration === null).toBe(
        inspection.problems.some(({ severity, code }) => severity === 'error' && !DEFERRED.includes(code)),
      );
      expectPlaces(inspection);
    }),
    // The long suite takes ten thousand.
    { numRuns: process.env.TOOL_TEST_FULL === '1' ? 10_000 : 400 },
  );
});

const DEFERRED = ['template_failed', 'query_file_not_found', 'destination_is_source'];

const VALID = withKey(`defaults: {cpus: 2}
storage_profiles:
  team: {provider: s3, bucket: "b", region: eu}
targets:
  app: &app
    name: App
    storage_profile: team
    snapshot:
      src_url: "postgres://u:{{\`PW\` | env}}@h:5432/app"
      schema_config: {include_schemas: [a, b], exclude_schemas: [c]}
    subset:
      subset_tables:
        - {table: public.a, percent: 5}
      copy_tables: [public.b]
  other:
    <<: *app
`);

/** Every problem is in the file, or names its variable. */
function expectPlaces({ problems }: Pick<Inspection, 'problems'>): void {
  for (const { line, column, message, file } of problems) {
    if (file === null) expect(message).toMatch(/TOOL_|no configuration/);
    else expect([line, column].every((place) => place !== null && place >= 1)).toBe(true);
    expect(message).not.toMatch(/undefined|\[object|call stack/);
  }
}

/** Ten lists, each of nine times the one before. */
function bomb(): string {
  const names = 'abcdefghij'.split('');
  return names
    .map((name, index) => `${name}: &${name} [${Array(9).fill(index === 0 ? 'x' : `*${names[index - 1]}`)}]`)
    .join('\n');
}

function staircase(steps: number): string {
  return Array.from({ length: steps }, (_, index) => `${' '.repeat(index)}a:`).join('\n');
}
