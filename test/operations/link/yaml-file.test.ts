import { describe, expect, it } from 'vitest';
import { yamlFile } from '../../../src/operations/link/yaml-file.ts';

const KEY = 'development.database';
const MAIN = 'development:\n  adapter: postgresql\n  host: h\n  port: 05432\n  database: shop\n';

/** The content of a tree with the lines of the main tree, and after the link. */
function changed(tree: string | null, { main = MAIN, key = KEY, database = 'shop_fix' } = {}) {
  const written = yamlFile.withLines(tree, yamlFile.linesFor(yamlFile.linesOf(main, key), { key, database }));
  const before = tree === null ? null : yamlFile.formerOf(tree, key);
  return { written, after: yamlFile.withoutLines(written, { key, before, unended: false }) };
}

describe('a YAML file with the URL', () => {
  it.each([
    [
      'a comment and another order',
      '# a\r\ndevelopment:\r\n  host: h # b\r\n  database: old\r\n  port: 05432\r\n  adapter: postgis\r\n',
    ],
    ['single quotes', MAIN.replace('shop', "'it''s'")],
    ['double quotes and no line feed at the end', MAIN.replace('shop\n', '"\\x41"')],
    ['a map in one line', 'development: {adapter: pg, host: h, port: 05432, database: a}'.replace('pg', 'postgresql')],
    ['other sections and bytes', `\u00c3\u00a9: 1\n${MAIN}test:\n  database: shop\n`],
  ])('keeps %s, and gets its value back', (_, tree) => {
    const { written, after } = changed(tree);
    expect(after).toBe(tree);
    expect(written).toContain('shop_fix');
    expect(yamlFile.urlIn(written, KEY)).toBe('postgres://h:05432/shop_fix');
    expect(changed(written).written).toBe(written);
  });

  it('is created with the section of the key only, and removed with it', () => {
    const main = `secret: top\nbase: &b {adapter: mysql2, variables: {a: [1]}}\ndevelopment: &dev\n  <<: [*b]\n  password: 'x # y'\n  database: shop\ntest:\n  <<: *dev\n`;
    const { written, after } = changed(null, { main });
    expect(written).toBe(
      `development:\n  password: 'x # y'\n  database: shop_fix\n  adapter: mysql2\n  variables: {"a":[1]}\n`,
    );
    expect(after).toBeNull();
    const more = `${written}# mine\ntest: 1\n`;
    expect(yamlFile.withoutLines(more, { key: KEY, before: null, unended: false })).toBe('# mine\ntest: 1\n');
  });

  it('has a URL, whose parameters stay', () => {
    const main = 'production: 1\nDATABASE_URL: postgres://u:p@h/shop?pool=5\n';
    const { written } = changed(null, { main, key: 'DATABASE_URL' });
    expect(written).toBe('DATABASE_URL: "postgres://u:p@h/shop_fix?pool=5"\n');
  });

  it.each([
    ['ERB', `${MAIN}# <%= 1 %>\n`, 'contains ERB'],
    ['no YAML', `${MAIN}x: [\n`, 'not valid YAML'],
    ['two documents', `${MAIN}---\na: 1\n`, 'is '],
    ['a key twice', `${MAIN}  database: b\n`, 'contains database twice'],
    ['a section twice', MAIN + MAIN, 'contains development twice'],
    ['an anchor', MAIN.replace('shop', '&a shop'), 'an anchor'],
    ['a block', MAIN.replace('shop', '|\n    shop'), 'a block'],
    ['a number', MAIN.replace('shop', '12'), 'has no text'],
    ['an alias', `a: &a shop\n${MAIN.replace('shop', '*a')}`, 'has no text'],
    ['the key in a merged map only', `a: &a {database: shop}\ndevelopment:\n  <<: *a\n`, 'is missing'],
    ['maps that merge themselves', 'development: &a\n  <<: *a\n  database: shop\n', 'merges'],
    ['another server in the tree', MAIN.replace('host: h', 'host: other'), 'differ from those of the main tree'],
    ['half a character in the value', MAIN.replace('shop', '"\\ud800"'), 'half a character at development.database'],
    ['half a character beside it', `${MAIN}  username: "\\udc00"\n`, 'half a character at username'],
    [
      'more keys than a section has',
      `a: &a 1\n${MAIN}${Array.from({ length: 300 }, (_, at) => `  k${at}: *a\n`).join('')}`,
      'too many keys',
    ],
    ['bytes that are not UTF-8', `${MAIN}# \xff\n`, 'not UTF-8'],
  ])('refuses %s', (_, tree, message) => {
    expect(() => changed(tree)).toThrow(message);
  });

  it.each([
    ['itself', `${MAIN}  variables: &v {a: *v}\n`],
    ['very many others', `${bomb()}${MAIN}  variables: *a8\n`],
  ])('is refused where a value beside the key contains %s', (_, main) => {
    expect(() => changed(null, { main })).toThrow('The value of variables cannot be written');
  });

  it.each([
    ['its anchor is used', 'development: &d {database: shop_fix}\ntest:\n  <<: *d\n'],
    ['it is in one line with others', '{development: {database: shop_fix}, test: 1}\n'],
  ])('keeps the section of the link where %s', (_, edited) => {
    expect(() => yamlFile.withoutLines(edited, { key: KEY, before: null, unended: false })).toThrow(
      'Other parts of the file need development',
    );
  });
});

/** A list of 10^9 values. */
function bomb(): string {
  const lists = Array.from(
    { length: 8 },
    (_, at) => `a${at + 1}: &a${at + 1} [${Array(10).fill(`*a${at}`).join(', ')}]\n`,
  );
  return `a0: &a0 [${Array(10).fill(1).join(', ')}]\n${lists.join('')}`;
}
