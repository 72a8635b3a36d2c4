import { expect, test } from 'vitest';
import { nearest, nearestFew } from '../../src/text/nearest.ts';

test.for([
  ['buidl', ['build', 'pull'], 'build'],
  ['taem', ['team'], 'team'],
  ['ap', ['app'], 'app'],
  ['snapshoot', ['share', 'snapshot'], 'snapshot'],
  // More than a third of the word is wrong.
  ['xy', ['db', 'id'], null],
  ['foo', ['app', 'fob'], 'fob'],
  ['foo', ['app', 'bar'], null],
  ['db', ['app', 'id'], null],
  ['staging', ['production'], null],
  ['x', [], null],
] as const)('%s among %s is meant for %s', ([wanted, known, expected]) => {
  expect(nearest(wanted, known)).toBe(expected);
});

test('several words that are near come with the nearest first', () => {
  expect(nearestFew('public.order', ['public.store', 'public.borders', 'public.orders', 'sales.invoice'], 3)).toEqual([
    'public.orders',
    'public.borders',
    'public.store',
  ]);
});

test('a very long word is like none, and found to be at once', () => {
  const started = performance.now();
  expect(nearest('x'.repeat(1_000_000), ['app', 'snapshot'])).toBeNull();
  expect(performance.now() - started).toBeLessThan(100);
});
