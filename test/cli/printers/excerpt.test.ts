import { expect, test } from 'vitest';
import { createExcerpts } from '../../../src/cli/printers/problems.ts';
import { settingsSchema } from '../../../src/config/schema/settings.ts';
import { shapeOf } from '../../../src/config/schema/shape.ts';

const shape = shapeOf(settingsSchema);

function at(text: string, line: number | null, column: number | null): string[] {
  const problem = { severity: 'error', code: '', key: '', message: '', hint: null, file: 'f', line, column } as const;
  return createExcerpts(text, shape)(problem);
}

test('an excerpt is the line with a caret below the place', () => {
  expect(at('debug: 1\nname: x\n', 2, 7)).toEqual(['   2 | name: x', '     |       ^']);
});

test('the caret is correct behind wide characters and tabs', () => {
  expect(at('name:\t名: x', 1, 8)).toEqual(['   1 | name: 名: ***', '     |         ^']);
});

test.for([
  ['secret_key: 0123456789abcdef', 13, ['   1 | secret_key: ***', '     |             ^']],
  ['authtokn: hunter2', 1, ['   1 | authtokn: ***', '     | ^']],
  ['team: {access_key: hunter2, bucket: b}', 29, ['   1 | team: {access_key: ***', '     |                    ^']],
  [
    'src_url: postgres://me:hun@ter2@h/d x',
    37,
    ['   1 | src_url: postgres://me:***@h/d x', '     |                                ^'],
  ],
  [
    'src_url: "postgres://me:hunter{{`X` | env}}2@h/d"',
    33,
    ['   1 | src_url: "postgres://me:***{{`X` | env}}***@h/d"', '     |                              ^'],
  ],
  ['src_url: postgres://me:hunter2/d', 1, ['   1 | src_url: postgres://me:***', '     | ^']],
  ['src_url: postgres:// me:hun ter2@h/d', 1, ['   1 | src_url: postgres:// me:***@h/d', '     | ^']],
  ['src_url: "postgres://me:{{`X` | env}@h/d"', 1, ['   1 | src_url: "postgres://me:{{`X` | env}@h/d"', '     | ^']],
  ['src_url: hunter2', 1, ['   1 | src_url: ***', '     | ^']],
  ['dst_url: postgres://h:5432/d', 1, ['   1 | dst_url: postgres://h:5432/d', '     | ^']],
  ['dst_url: "postgres://u:{{`hunter2`}}@h/d"', 1, ['   1 | dst_url: "postgres://u:***@h/d"', '     | ^']],
  ['hunter2', 1, ['   1 | ***', '     | ^']],
  ['authtoken hunter2', 11, ['   1 | authtoken ***', '     |           ^']],
  ['dst_url: postgres: //me:hunter2@h/d', 1, ['   1 | dst_url: postgres: ***', '     | ^']],
  ['name: App authtoken: hunter2', 1, ['   1 | name: App authtoken: ***', '     | ^']],
] as const)('the secret is hidden in %s', ([line, column, expected]) => {
  const shown = at(line, 1, column);
  expect(shown).toEqual(expected);
  expect(shown.join()).not.toContain('hunter');
});

test.for([
  ['authtoken:\n  hunter2', 2, '   2 |   ***'],
  ['authtoken:\n- hunter2', 2, '   2 | - ***'],
  ['env: production\n- hunter2', 2, '   2 | - ***'],
  ['copy_tables:\n  # both\n  - orders\n  - items', 4, '   4 |   - items'],
  ['copy_tables:\n- orders', 2, '   2 | - orders'],
] as const)('a line without a key belongs to the key above it: %j', ([text, line, expected]) => {
  expect(at(text, line, 1)[0]).toBe(expected);
});

test('shows the part of a long line around the position, and moves no cursor', () => {
  const [line = '', caret = ''] = at(`name: ${'x'.repeat(5000)}\x1b[2J${'y'.repeat(5000)}`, 1, 5007);
  expect(line.length).toBeLessThan(140);
  expect(line).toContain('x·[2Jy');
  expect(line.charAt(caret.indexOf('^'))).toBe('·');
});

test('there is no excerpt without a position', () => {
  expect(at('debug: 1', null, null)).toEqual([]);
});
