import { expect, test } from 'vitest';
import { wrap } from '../../src/text/text-width.ts';

test('text breaks at spaces, a word only where it is longer than a line', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrap('postgres://app', 8)).toEqual(['postgres', '://app']);
});

test('a long URL breaks before its database, with its scheme or without', () => {
  expect(wrap('postgres://app@db:5432/shop_dev', 26)).toEqual(['postgres://app@db:5432/', 'shop_dev']);
  expect(wrap('app@db:5432/shop_dev', 15)).toEqual(['app@db:5432/', 'shop_dev']);
});

test('an amount stays with its unit', () => {
  expect(wrap('2,000 rows, 3.6 s)', 15)).toEqual(['2,000 rows,', '3.6 s)']);
  expect(wrap('it added 2.8 MB', 12)).toEqual(['it added', '2.8 MB']);
  expect(wrap('28 tables', 4)).toEqual(['28', 'tabl', 'es']);
});
