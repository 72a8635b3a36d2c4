import { expect, it, test } from 'vitest';
import type { Change } from '../../../src/config/edit/change.ts';
import { changeText } from '../../../src/config/edit/change-text.ts';

const FILE = `# ours
targets:
  app: # the one
    copy_tables: [public.a, 'public.b']
    sso_groups:
      - dev # developers
      # operators
      - ops
    subset:
      subset_tables:
        - table: public.users
          percent: 5
        - { table: public.logs }
  "other": {}
# the end
`;

it.for<{ what: string; change: Change; from: string; to: string }>([
  {
    what: 'appends to a list of lines',
    change: { kind: 'append', path: ['targets', 'app', 'sso_groups'], value: 'new people' },
    from: '      - ops\n',
    to: '      - ops\n      - "new people"\n',
  },
  {
    what: 'appends to a list in brackets',
    change: { kind: 'append', path: ['targets', 'app', 'copy_tables'], value: 'public.c' },
    from: "'public.b']",
    to: "'public.b', public.c]",
  },
  {
    what: 'appends a map to a list of maps',
    change: {
      kind: 'append',
      path: ['targets', 'app', 'subset', 'subset_tables'],
      value: { table: 'public.orders' },
    },
    from: '{ table: public.logs }\n',
    to: '{ table: public.logs }\n        - table: public.orders\n',
  },
  {
    what: 'makes the list that is not there',
    change: {
      kind: 'append',
      path: ['targets', 'app', 'subset', 'excluded_relationships'],
      value: { fk_table: 'a.b' },
    },
    from: '{ table: public.logs }\n',
    to: '{ table: public.logs }\n      excluded_relationships:\n        - fk_table: a.b\n',
  },
  {
    what: 'appends a map with several keys to a list of maps',
    change: {
      kind: 'append',
      path: ['targets', 'app', 'subset', 'subset_tables'],
      value: { table: 'public.orders', percent: 5 },
    },
    from: '{ table: public.logs }\n',
    to: '{ table: public.logs }\n        - table: public.orders\n          percent: 5\n',
  },
  {
    what: 'sets a list that is not there',
    change: { kind: 'set', path: ['targets', 'app', 'subset', 'copy_tables'], value: ['public.a', 'public.b c'] },
    from: '{ table: public.logs }\n',
    to: '{ table: public.logs }\n      copy_tables:\n        - public.a\n        - "public.b c"\n',
  },
  {
    what: 'removes the first item of lines',
    change: { kind: 'remove', path: ['targets', 'app', 'sso_groups', 0] },
    from: '      - dev # developers\n',
    to: '',
  },
  {
    what: 'removes the last item of lines',
    change: { kind: 'remove', path: ['targets', 'app', 'sso_groups', 1] },
    from: '      - ops\n',
    to: '',
  },
  {
    what: 'removes an item in brackets',
    change: { kind: 'remove', path: ['targets', 'app', 'copy_tables', 1] },
    from: ", 'public.b'",
    to: '',
  },
  {
    what: 'removes a map of a list',
    change: { kind: 'remove', path: ['targets', 'app', 'subset', 'subset_tables', 0] },
    from: '        - table: public.users\n          percent: 5\n',
    to: '',
  },
  {
    what: 'removes a target with all that is in it',
    change: { kind: 'remove', path: ['targets', 'other'] },
    from: '  "other": {}\n',
    to: '',
  },
  {
    what: 'renames a target where it stands',
    change: { kind: 'rename', path: ['targets', 'app'], name: 'shop' },
    from: '  app: # the one',
    to: '  shop: # the one',
  },
  {
    what: 'adds a name without anything',
    change: { kind: 'name', path: ['targets', 'third'] },
    from: '  "other": {}\n',
    to: '  "other": {}\n  third:\n',
  },
])('$what and leaves every other byte', ({ change, from, to }) => {
  expect(FILE).toContain(from);
  expect(changeText(FILE, change)).toBe(FILE.replace(from, () => to));
});

test('an empty name takes a value, and the byte order mark stays', () => {
  const named = changeText('\uFEFFdebug: true\r\n', { kind: 'name', path: ['targets', 'app'] });
  const filled = changeText(named, { kind: 'set', path: ['targets', 'app', 'snapshot', 'dst_url'], value: 'x' });
  expect(filled).toBe('\uFEFFdebug: true\r\ntargets:\r\n  app:\r\n    snapshot:\r\n      dst_url: x\r\n');
});

test('the last item takes its list with it', () => {
  const change: Change = { kind: 'remove', path: ['groups', 0] };
  expect(changeText('groups:\n  - dev\ndebug: true\n', change)).toBe('debug: true\n');
});

test.for<{ text: string; change: Change }>([
  { text: 'a: 1\nb: 2\n', change: { kind: 'rename', path: ['a'], name: 'b' } },
  { text: 'a: &x [p, q]\nb: *x\n', change: { kind: 'append', path: ['b'], value: 'r' } },
  { text: 'a: &x { k: 1 }\nb:\n  <<: *x\n', change: { kind: 'rename', path: ['b', 'k'], name: 'l' } },
])('a change that would do more than it says is refused: $text', ({ text, change }) => {
  expect(() => changeText(text, change)).toThrow('safely in this file');
});
