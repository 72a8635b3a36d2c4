import { describe, expect, test } from 'vitest';
import { emptyList, matchesFilter, moveSelection, selectedIndex } from '../../src/state/list.ts';

const ids = ['a', 'b', 'c', 'd', 'e'];

describe('a selection', () => {
  test.each([
    ['up', 'b'],
    ['down', 'd'],
    ['page-up', 'a'],
    ['page-down', 'e'],
    ['first', 'a'],
    ['last', 'e'],
  ] as const)('moves %s from c to %s', (move, to) => {
    expect(moveSelection({ ...emptyList, selected: 'c' }, { ids, index: 2, move, page: 3 }).selected).toBe(to);
  });

  test('stays at the ends', () => {
    expect(moveSelection({ ...emptyList, selected: 'a' }, { ids, index: 0, move: 'up', page: 3 }).selected).toBe('a');
    expect(moveSelection({ ...emptyList, selected: 'e' }, { ids, index: 4, move: 'down', page: 3 }).selected).toBe('e');
  });

  test('is an identity: rows that come before it do not move it', () => {
    expect(selectedIndex(['new', ...ids], 'c')).toBe(3);
  });

  test('falls back to the first row when the selected one is gone, and to none in an empty list', () => {
    expect(selectedIndex(ids, 'gone')).toBe(0);
    expect(selectedIndex([], 'c')).toBe(-1);
  });
});

test('a filter wants every word, in any text and any case', () => {
  expect(matchesFilter('SHOP up', ['app', 'The shop', 'up'])).toBe(true);
  expect(matchesFilter('shop down', ['app', 'The shop', 'up'])).toBe(false);
});
