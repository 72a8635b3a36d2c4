import { describe, expect, it } from 'vitest';
import { testDatabase, yamlFile } from '../../../src/operations/link/yaml-file.ts';

const KEY = 'development.database';
const MAIN = 'development:\n  adapter: postgresql\n  host: h\n  port: 05432\n  database: shop\n';

/** The content of a tree with the lines of the main tree, and after the link. */
function changed(tree: string | null, { main = MAIN, key = KEY, database = 'shop_fix' } = {}) {
  const lines = yamlFile.linesOf(main, key);
  const written = yamlFile.withLines(tree, yamlFile.linesFor(lines, { key, database }));
  const former = tree === null ? { before: null, keys: Object.keys(lines) } : { before: yamlFile.formerOf(tree, key) };
  return { written, after: yamlFile.withoutLines(written, { key, unended: false, ...former }) };
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

  const SERVER = '  adapter: postgresql\n  host: h\n';
  const tests = (database: string): string => `test:\n  database: ${database}\n${SERVER}`;

  it('has a database for the tests of Rails, of each tree its own', () => {
    const main = `default: &d\n${SERVER}development:\n  <<: *d\n  database: shop\ntest:\n  <<: *d\n  database: shop_test\n`;
    const { written, after } = changed(null, { main });
    expect(written).toBe(`development:\n  database: shop_fix\n${SERVER}${tests('"shop_fix-test"')}`);
    expect(after).toBeNull();
    // As before this section was written, or as the user left it.
    const alone = `development:\n  database: shop_fix\n${SERVER}`;
    const former = { key: KEY, before: null, unended: false };
    expect(yamlFile.withoutLines(alone, { ...former, keys: [KEY, 'test.database'] })).toBeNull();
    expect(yamlFile.withoutLines(alone + tests('mine'), former)).toBe(tests('mine'));

    const own = `${main}production:\n  database: shop\n`;
    const inTree = changed(own, { main });
    expect(inTree.written).toBe(
      own.replace('database: shop\n', 'database: shop_fix\n').replace('shop_test', '"shop_fix-test"'),
    );
    expect(inTree.after).toBe(own);
  });

  it('has the section of tests with SQLite as it is, and leaves that of another server in the tree', () => {
    const sqlite = 'test:\n  database: db/test.sqlite3\n  adapter: sqlite3\n';
    expect(changed(null, { main: MAIN + sqlite }).written).toContain(sqlite);
    const tree = MAIN + tests('mine').replace('host: h', 'host: other');
    expect(changed(tree, { main: MAIN + tests('shop_test') })).toEqual({
      written: tree.replace('database: shop', 'database: shop_fix'),
      after: tree,
    });
  });

  it('has no section of tests whose database cannot be replaced', () => {
    const main = `${MAIN}${tests('shop_test')}  url: &a postgres://h/shop_test\n`;
    expect(changed(null, { main }).written).not.toContain('test');
  });

  it.each(['shop_fix', 'x'.repeat(63), 'é'.repeat(32)])('names the database of tests within the limits: %s', (name) => {
    const test = testDatabase(name);
    expect(Buffer.byteLength(`${test}-12`)).toBeLessThanOrEqual(63);
    expect(test).toMatch(/-test$/);
    expect(testDatabase(`${name.slice(0, -1)}y`)).not.toBe(test);
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
