import { expect, it } from 'vitest';
import type { Edit } from '../../../src/config/edit/change.ts';
import { editConfigurationText } from '../../../src/config/edit/edit-text.ts';
import { setValue } from '../../../src/config/tree.ts';
import { parseYaml } from '../../../src/config/yaml/yaml-source.ts';
import { fc } from '../../helpers/fast-check.ts';

const FILE = `# what this is for
secret_key: "00000000000000000000000000000000"   # keep it

defaults: &d
    cpus:   4 # of eight
working_directory: '/it''s here'
targets:
  app: # the one
    name: &n "The app"
    snapshot: { src_url: postgres://a@b/c, dst_url: "x" }
    sso_groups:
      - dev
      - *n

  other:
    share:
# the end
`;

it.for<{ change: string; edit: Edit; from: string; to: string }>([
  { change: 'a quoted text', edit: { path: ['working_directory'], value: "o'k" }, from: `'/it''s here'`, to: `'o''k'` },
  { change: 'a number', edit: { path: ['defaults', 'cpus'], value: 2 }, from: 'cpus:   4 #', to: 'cpus:   2 #' },
  {
    change: 'an address',
    edit: { path: ['targets', 'app', 'snapshot', 'src_url'], value: 'postgres://a@b/d?sslmode=require' },
    from: 'postgres://a@b/c',
    to: 'postgres://a@b/d?sslmode=require',
  },
  {
    change: 'a value in braces',
    edit: { path: ['targets', 'app', 'snapshot', 'dst_url'], value: 'y' },
    from: '"x"',
    to: '"y"',
  },
  {
    change: 'an item of a list',
    edit: { path: ['targets', 'app', 'sso_groups', 0], value: 'ops' },
    from: '- dev',
    to: '- ops',
  },
  { change: 'an alias', edit: { path: ['targets', 'app', 'sso_groups', 1], value: 'b' }, from: '- *n', to: '- b' },
])('$change is changed where it stands, and no other byte', ({ edit, from, to }) => {
  expect(editConfigurationText(FILE, [edit])).toBe(FILE.replace(from, to));
});

it('an anchored text keeps its anchor when its aliases are to have the new value too, and is refused otherwise', () => {
  const edits = [
    { path: ['targets', 'app', 'name'], value: 'A' },
    { path: ['targets', 'app', 'sso_groups', 1], value: 'A' },
  ];
  expect(editConfigurationText(FILE, edits)).toBe(FILE.replace('&n "The app"', '&n "A"'));
  expect(() => editConfigurationText(FILE, edits.slice(0, 1))).toThrow('safely in this file');
});

it.for([
  { change: 'an empty value', from: 'a:   # none\nb: 1\n', to: 'a: v   # none\nb: 1\n' },
  { change: 'nothing behind a colon', from: 'a:\n', to: 'a: v\n' },
  { change: 'a null', from: 'a: ~ # none', to: 'a: v # none' },
  { change: 'a key in braces without a colon', from: '{b: 1, a}', to: '{b: 1, a: v}' },
  { change: 'a text over several lines', from: 'a: one\n  two # c\nb: 1\n', to: 'a: v # c\nb: 1\n' },
  { change: 'a block of text', from: 'a: >- # c\n  one\n\n  two\n\nb: 1\n', to: 'a: v # c\n\nb: 1\n' },
  { change: 'a block of text at the end', from: 'a: |\n  one', to: 'a: v' },
  { change: 'a value with a question mark before it', from: '? a\n: one # c\n', to: '? a\n: v # c\n' },
])('$change is changed alone', ({ from, to }) => {
  expect(editConfigurationText(from, [{ path: ['a'], value: 'v' }])).toBe(to);
});

it.for([
  { where: 'an empty file', from: '', to: 'a:\n  b: v\n' },
  { where: 'a file of comments', from: '# one\n', to: '# one\na:\n  b: v\n' },
  { where: 'a key without a value', from: 'a: # one\nc: 1\n', to: 'a: # one\n  b: v\nc: 1\n' },
  { where: 'a null', from: 'a: ~ # one\nc: 1\n', to: 'a: # one\n  b: v\nc: 1\n' },
  { where: 'empty braces', from: 'a: {} # one\n', to: 'a: { b: v } # one\n' },
  { where: 'braces', from: 'a: {c: 1}', to: 'a: {c: 1, b: v}' },
  {
    where: 'braces over several lines',
    from: 'a: {\n  c: 1, # one\n  d: 2, # two\n}\n',
    to: 'a: {\n  c: 1, # one\n  d: 2, b: v, # two\n}\n',
  },
  { where: 'a map that ends the file', from: 'a:\n    c: 1', to: 'a:\n    c: 1\n    b: v' },
  {
    where: 'a map behind a byte order mark',
    from: '\uFEFFa:\r\n   c: 1\r\n',
    to: '\uFEFFa:\r\n   c: 1\r\n   b: v\r\n',
  },
  {
    where: 'a map that ends with a block',
    from: 'a:\n  c: |\n    t\n\n\nd: 1\n',
    to: 'a:\n  c: |\n    t\n  b: v\n\n\nd: 1\n',
  },
  { where: 'a map with merged keys', from: 'd: &d {c: 1}\na:\n  <<: *d\n', to: 'd: &d {c: 1}\na:\n  <<: *d\n  b: v\n' },
  { where: 'a file with deeper steps', from: 'd:\n    c: 1\n', to: 'd:\n    c: 1\na:\n    b: v\n' },
])('a new key is written into $where', ({ from, to }) => {
  expect(editConfigurationText(from, [{ path: ['a', 'b'], value: 'v' }])).toBe(to);
});

it.for([
  {
    what: 'the first key of an item',
    from: 'l:\n- a: 1\n  b: 2\n- c: 3\n',
    path: ['l', 0, 'a'],
    to: 'l:\n- b: 2\n- c: 3\n',
  },
  { what: 'the only key of an item', from: 'l:\n- a: 1 # c\n', path: ['l', 0, 'a'], to: 'l:\n- {} # c\n' },
  { what: 'the only key of a map', from: 'b:\n  a: |\n    x\nc: 1\n', path: ['b', 'a'], to: 'b:\n  {}\nc: 1\n' },
  { what: 'the last line', from: 'b: 1\na: 2', path: ['a'], to: 'b: 1' },
  { what: 'the only line', from: 'a: 2', path: ['a'], to: '' },
  { what: 'the only key', from: '# c\r\na: 2\r\n', path: ['a'], to: '# c\r\n' },
  { what: 'the last line behind a line break of Windows', from: 'b: 1\r\na: 2', path: ['a'], to: 'b: 1' },
])('removes $what', ({ from, path, to }) => {
  expect(editConfigurationText(from, [{ path, value: undefined }])).toBe(to);
});

it.for([
  ['what several keys share by an alias', 'b: &b {a: 1}\na: *b\n', ['a', 'a']],
  ['what a merge key brings', 'b: &b {x: {a: 1}}\na:\n  <<: *b\n', ['a', 'x', 'a']],
  ['a list in the place of a value', 'a: [1]\n', ['a']],
  ['a text in the place of a map', 'a: text\n', ['a', 'b']],
  ['a file that is not YAML', 'a: [1\n', ['a']],
] as const)('%s is refused', ([, text, path]) => {
  expect(() => editConfigurationText(text, [{ path: [...path], value: 'v' }])).toThrow('safely in this file');
});

it('a thousand values are changed on one reading of the text', () => {
  const file = Array.from({ length: 1000 }, (_, i) => `k${i}: one # ${i}\n`).join('');
  const edits = Array.from({ length: 1000 }, (_, i) => ({ path: [`k${i}`], value: 'two' }));
  const before = process.cpuUsage();
  expect(editConfigurationText(file, edits)).toBe(file.replaceAll('one', 'two'));
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000);
});

it('a new key goes to the end of its map, and a new map to the end of the file', () => {
  expect(editConfigurationText(FILE, [{ path: ['defaults', 'shared_target_dst_db_url'], value: 'u' }])).toBe(
    FILE.replace('# of eight\n', '# of eight\n    shared_target_dst_db_url: u\n'),
  );
  expect(editConfigurationText(FILE, [{ path: ['targets', 'app', 'snapshot', 'new'], value: 1 }])).toBe(
    FILE.replace('"x" }', '"x", new: 1 }'),
  );
  expect(editConfigurationText('a: 1\n', [{ path: ['sso', 'idp', 'expires'], value: 7 }])).toBe(
    'a: 1\nsso:\n  idp:\n    expires: 7\n',
  );
  expect(editConfigurationText('', [{ path: ['a'], value: true }])).toBe('a: true\n');
  expect(editConfigurationText('a: 1', [{ path: ['b'], value: 'x y' }])).toBe('a: 1\nb: "x y"');
});

it('a key without a value gets one', () => {
  const edited = editConfigurationText(FILE, [{ path: ['targets', 'other', 'share', 'dst_url'], value: 'u' }]);
  expect(edited).toBe(FILE.replace('    share:\n', '    share:\n      dst_url: u\n'));
});

it('the removal of a key removes its line, and nothing else', () => {
  expect(editConfigurationText(FILE, [{ path: ['working_directory'], value: undefined }])).toBe(
    FILE.replace("working_directory: '/it''s here'\n", ''),
  );
  expect(editConfigurationText(FILE, [{ path: ['targets', 'app', 'snapshot', 'src_url'], value: undefined }])).toBe(
    FILE.replace('src_url: postgres://a@b/c, ', ''),
  );
  expect(editConfigurationText(FILE, [{ path: ['targets', 'app', 'snapshot', 'dst_url'], value: undefined }])).toBe(
    FILE.replace(', dst_url: "x"', ''),
  );
  expect(editConfigurationText(FILE, [{ path: ['nothing'], value: undefined }])).toBe(FILE);
});

it('line endings and a missing last one stay', () => {
  const file = 'a: 1\r\nb:\r\n  c: 2';
  expect(editConfigurationText(file, [{ path: ['b', 'd'], value: 3 }])).toBe('a: 1\r\nb:\r\n  c: 2\r\n  d: 3');
  expect(editConfigurationText(file, [{ path: ['a'], value: 9 }])).toBe('a: 9\r\nb:\r\n  c: 2');
});

it('any value is read back after an edit, and all other lines are unchanged', () => {
  const there = [
    ['secret_key'],
    ['defaults', 'cpus'],
    ['working_directory'],
    ['targets', 'app', 'snapshot', 'src_url'],
    ['targets', 'app', 'snapshot', 'dst_url'],
    ['targets', 'app', 'sso_groups', 0],
    ['targets', 'app', 'sso_groups', 1],
  ];
  const missing = [
    ['authtoken'],
    ['targets', 'app', 'cpus'],
    ['targets', 'other', 'share', 'dst_url'],
    ['targets', 'third', 'share', 'dst_url'],
  ];
  const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string(), fc.string({ unit: 'binary' }), fc.integer());
  const files = fc.record({ windows: fc.boolean(), mark: fc.boolean(), lastBreak: fc.boolean() });
  fc.assert(
    fc.property(fc.constantFrom(...there, ...missing), value, files, (path, content, { windows, mark, lastBreak }) => {
      const lines = (lastBreak ? FILE : FILE.trimEnd()).split('\n');
      const file = (mark ? '\uFEFF' : '') + lines.join(windows ? '\r\n' : '\n');
      const edited = editConfigurationText(file, [{ path, value: content }]);
      const expected = parseYaml(file).tree;
      setValue(expected, path, content);
      expect(parseYaml(edited)).toMatchObject({ tree: expected, flaws: [] });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: no configuration can hold them
      expect(edited).not.toMatch(/[\x00-\x08\x0B\x0C\x0E-\x1F\x7F]/);
      const [before, after] = [file.split('\n'), edited.split('\n')];
      const same = before.findIndex((line, index) => line !== after[index]);
      const added = after.length - before.length;
      expect(added === 0).toBe(there.includes(path));
      if (same !== -1)
        expect(after.slice(same + Math.max(1, added))).toEqual(before.slice(same + (added === 0 ? 1 : 0)));
    }),
    { numRuns: process.env.TEST_FULL ? 1000 : 200 },
  );
}, 120_000);
