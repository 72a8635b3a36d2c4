import { expect, test } from 'vitest';
import { excerpt } from '../../src/config/excerpt.ts';

function at(text: string, line: number, column: number): string[] {
  return excerpt(text, { severity: 'error', code: '', key: '', message: '', hint: null, file: 'f', line, column });
}

test('an excerpt is the line with a caret below the place', () => {
  expect(at('a: 1\nbc: 2\n', 2, 5)).toEqual(['   2 | bc: 2', '     |     ^']);
});

test('the caret stands right behind wide characters and tabs', () => {
  expect(at('名:\tx', 1, 4)).toEqual(['   1 | 名: x', '     |     ^']);
});

test.for([
  ['secret_key: 0123456789abcdef', 13, ['   1 | secret_key: ***', '     |             ^']],
  ['secretkey: hunter2', 1, ['   1 | secretkey: ***', '     | ^']],
  ['team: {access_key: hunter2, bucket: b}', 29, ['   1 | team: {access_key: ***', '     |                    ^']],
  ['u: postgres://me:hun@ter2@h/d x', 31, ['   1 | u: postgres://me:***@h/d x', '     |                          ^']],
  [
    'u: "postgres://me:hunter{{`X` | env}}2@h/d"',
    27,
    ['   1 | u: "postgres://me:***{{`X` | env}}***@h/d"', '     |                        ^'],
  ],
] as const)('in %s the secret is hidden', ([line, column, expected]) => {
  const shown = at(line, 1, column);
  expect(shown).toEqual(expected);
  expect(shown.join()).not.toContain('hunter');
});

test('of a long line the part around the place is shown, and nothing moves the cursor', () => {
  const [line = '', caret = ''] = at(`a: ${'x'.repeat(5000)}\x1b[2J${'y'.repeat(5000)}`, 1, 5004);
  expect(line.length).toBeLessThan(140);
  expect(line).toContain('x·[2Jy');
  expect(line.charAt(caret.indexOf('^'))).toBe('·');
});

test('there is none without a place', () => {
  expect(
    excerpt('a', {
      severity: 'error',
      code: '',
      key: '',
      message: '',
      hint: null,
      file: null,
      line: null,
      column: null,
    }),
  ).toEqual([]);
});
