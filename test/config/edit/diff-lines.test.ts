import { expect, test } from 'vitest';
import { diffLines } from '../../../src/config/edit/diff-lines.ts';

test('changes are shown with two lines of context', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
  const after = ['a', 'b', 'c', 'D', 'e', 'f', 'g', 'h', 'i', 'j', 'k'];
  expect(shown(before, after)).toEqual([' 1 b', ' 2 c', '-3 d', '+3 D', ' 4 e', ' 5 f', ' 8 i', ' 9 j', '+10 k']);
});

test('the same text has no difference, and an empty one is all gone', () => {
  expect(diffLines('a\nb\n', 'a\nb\n')).toEqual([]);
  expect(shown(['a', 'b'], [])).toEqual(['-0 a', '-1 b']);
  expect(shown([], ['a'])).toEqual(['+0 a']);
});

test('a file that does not end its last line has the lines that it has', () => {
  expect(diffLines('a\nb', 'a\nc')).toEqual([
    { kind: 'same', number: 0 },
    { kind: 'removed', number: 1 },
    { kind: 'added', number: 1 },
  ]);
});

function shown(before: string[], after: string[]): string[] {
  const textOf = (lines: string[]): string => lines.map((line) => `${line}\n`).join('');
  return diffLines(textOf(before), textOf(after)).map(({ kind, number }) => {
    const text = kind === 'removed' ? before[number] : after[number];
    return `${{ same: ' ', added: '+', removed: '-' }[kind]}${number} ${text}`;
  });
}
