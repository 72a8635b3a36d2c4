import { expect, test } from 'vitest';
import { configured, SECRET_KEY } from '../helpers/configured.ts';

const FIELDS = [
  'snapshot.src_url',
  'snapshot.dst_url',
  'sanitize.dst_url',
  'subset.src_url',
  'subset.dst_url',
  'share.dst_url',
];

function withUrl(field: string, url: string): string {
  const [operation, key] = field.split('.');
  return `${SECRET_KEY}targets:\n  app:\n    ${operation}:\n      ${key}: ${url}\n`;
}

test.each(FIELDS)('a template in %s is filled in', async (field) => {
  const file = withUrl(field, "'postgres://u:{{`PASSWORD` | env}}@h/d'");
  const { configuration, problems } = await configured(file, { PASSWORD: 'p@ss/word' });
  expect(problems).toEqual([]);
  expect(configuration?.settings.targets.app).toHaveProperty(field, 'postgres://u:p%40ss%2Fword@h/d');
});

test.each(FIELDS)(
  'a template in %s that cannot be filled in is put off until somebody needs the URL',
  async (field) => {
    const { configuration, problems } = await configured(withUrl(field, '"postgres://u:{{`GONE` | env}}@h/d"'));
    const [, key] = field.split('.');
    expect(configuration?.settings.targets.app).not.toHaveProperty(field);
    expect(configuration?.deferred).toEqual(problems);
    expect(problems).toMatchObject([
      { severity: 'error', code: 'template_failed', key: `targets.app.${field}`, line: 5, column: 16 },
    ]);
    expect(problems[0]?.message).toMatch(new RegExp(`^template parsing failed for ${key}: .*GONE`));
  },
);

test('a template in a variable is filled in, and its failure names the variable', async () => {
  const name = 'TOOL_TARGETS__APP__SNAPSHOT__SRC_URL';
  const { configuration, problems } = await configured(SECRET_KEY, { [name]: 'postgres://{{`GONE` | env}}/d' });
  expect(configuration?.deferred).toHaveLength(1);
  expect(problems).toMatchObject([{ line: null, message: expect.stringContaining(`(in ${name})`) }]);
});

test('a URL outside the six fields is taken as it is written', async () => {
  const url = 'postgres://h/{{x}}';
  const { configuration } = await configured(`${SECRET_KEY}override: {dst_db_url: "${url}"}\n`);
  expect(configuration?.settings.override.dst_db_url).toBe(url);
});

test('an error elsewhere does not hide a template that failed', async () => {
  const { configuration, problems } = await configured(`${withUrl('share.dst_url', '"postgres://{{"')}debgu: 1\n`);
  expect(configuration).toBeNull();
  expect(problems.map(({ code }) => code)).toEqual(['template_failed', 'unknown_key']);
});
