import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Edit, editText } from '../../../src/config/edit/edit-text.ts';
import { setValue } from '../../../src/config/tree.ts';
import { parseYaml } from '../../../src/config/yaml-source.ts';

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
    change: 'an anchored text',
    edit: { path: ['targets', 'app', 'name'], value: 'A' },
    from: '&n "The app"',
    to: '&n "A"',
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
  expect(editText(FILE, [edit])).toBe(FILE.replace(from, to));
});

it('a new key goes to the end of its map, and a new map to the end of the file', () => {
  expect(editText(FILE, [{ path: ['defaults', 'shared_target_dst_db_url'], value: 'u' }])).toBe(
    FILE.replace('# of eight\n', '# of eight\n    shared_target_dst_db_url: u\n'),
  );
  expect(editText(FILE, [{ path: ['targets', 'app', 'snapshot', 'new'], value: 1 }])).toBe(
    FILE.replace('"x" }', '"x", new: 1 }'),
  );
  expect(editText('a: 1\n', [{ path: ['sso', 'idp', 'expires'], value: 7 }])).toBe(
    'a: 1\nsso:\n  idp:\n    expires: 7\n',
  );
  expect(editText('', [{ path: ['a'], value: true }])).toBe('a: true\n');
  expect(editText('a: 1', [{ path: ['b'], value: 'x y' }])).toBe('a: 1\nb: "x y"\n');
});

it('a key without a value gets one', () => {
  const edited = editText(FILE, [{ path: ['targets', 'other', 'share', 'dst_url'], value: 'u' }]);
  expect(edited).toBe(FILE.replace('    share:\n', '    share:\n      dst_url: u\n'));
});

it('a key that is taken out takes its line along, and nothing else', () => {
  expect(editText(FILE, [{ path: ['working_directory'], value: undefined }])).toBe(
    FILE.replace("working_directory: '/it''s here'\n", ''),
  );
  expect(editText(FILE, [{ path: ['targets', 'app', 'snapshot', 'src_url'], value: undefined }])).toBe(
    FILE.replace('src_url: postgres://a@b/c, ', ''),
  );
  expect(editText(FILE, [{ path: ['targets', 'app', 'snapshot', 'dst_url'], value: undefined }])).toBe(
    FILE.replace(', dst_url: "x"', ''),
  );
  expect(editText(FILE, [{ path: ['nothing'], value: undefined }])).toBe(FILE);
});

it('line endings and a missing last one stay', () => {
  const file = 'a: 1\r\nb:\r\n  c: 2';
  expect(editText(file, [{ path: ['b', 'd'], value: 3 }])).toBe('a: 1\r\nb:\r\n  c: 2\r\n  d: 3\r\n');
  expect(editText(file, [{ path: ['a'], value: 9 }])).toBe('a: 9\r\nb:\r\n  c: 2');
});

it('whatever is set is what is read afterwards, and the lines of everything else are as they were', () => {
  const places = [
    ['secret_key'],
    ['defaults', 'cpus'],
    ['working_directory'],
    ['targets', 'app', 'name'],
    ['targets', 'app', 'snapshot', 'src_url'],
    ['targets', 'app', 'sso_groups', 0],
    ['targets', 'app', 'cpus'],
    ['targets', 'third', 'share', 'dst_url'],
    ['authtoken'],
  ];
  const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string(), fc.integer(), fc.boolean());
  fc.assert(
    fc.property(fc.constantFrom(...places), value, fc.boolean(), (path, content, windows) => {
      const file = windows ? FILE.replaceAll('\n', '\r\n') : FILE;
      const edited = editText(file, [{ path, value: content }]);
      const expected = parseYaml(file).tree;
      setValue(expected, path, content);
      // What is anchored is another value for its alias, too.
      if (path.at(-1) === 'name') setValue(expected, ['targets', 'app', 'sso_groups', 1], content);
      const { tree, flaws } = parseYaml(edited);
      expect(flaws).toEqual([]);
      expect(tree).toEqual(expected);
      const changed = edited.split('\n').filter((line) => !file.split('\n').includes(line));
      expect(changed.length).toBeLessThanOrEqual(path.length);
    }),
    { numRuns: 500 },
  );
});
