import { expect, test } from 'vitest';
import { diffLines } from '../../../src/config/edit/diff-lines.ts';

test('what comes and goes is told with two lines around it, and nothing of what is further away', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
  const after = ['a', 'b', 'c', 'D', 'e', 'f', 'g', 'h', 'i', 'j', 'k'];
  expect(shown(before, after)).toEqual([' 1 b', ' 2 c', '-3 d', '+3 D', ' 4 e', ' 5 f', ' 8 i', ' 9 j', '+10 k']);
});

test('the same text has no difference, and an empty one is all gone', () => {
  expect(diffLines(['a', 'b'], ['a', 'b'])).toEqual([]);
  expect(shown(['a', 'b'], [])).toEqual(['-0 a', '-1 b']);
});

test('texts that are too long to compare differ in all that lies between the first and the last change', () => {
  const many = (start: string) => Array.from({ length: 2100 }, (_, index) => `${start}${index}`);
  const lines = diffLines(['same', ...many('a')], ['same', ...many('b')]);
  expect(lines.filter(({ kind }) => kind === 'removed')).toHaveLength(2100);
  expect(lines.filter(({ kind }) => kind === 'added')).toHaveLength(2100);
});

function shown(before: string[], after: string[]): string[] {
  return diffLines(before, after).map(({ kind, number }) => {
    const text = kind === 'removed' ? before[number] : after[number];
    return `${{ same: ' ', added: '+', removed: '-' }[kind]}${number} ${text}`;
  });
}
