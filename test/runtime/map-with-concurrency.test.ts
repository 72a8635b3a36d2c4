import { expect, test } from 'vitest';
import { mapWithConcurrency } from '../../src/runtime/map-with-concurrency.ts';

test('results keep the order of the items, and no more calls run at once than allowed', async () => {
  let running = 0;
  let most = 0;
  const results = await mapWithConcurrency([30, 5, 20, 1], 2, async (delay) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, delay));
    running -= 1;
    return delay * 2;
  });
  expect({ results, most }).toEqual({ results: [60, 10, 40, 2], most: 2 });
});

test('after a failure no further item begins, and it is thrown once the calls in progress have ended', async () => {
  const slow = Promise.withResolvers<void>();
  const begun: string[] = [];
  let thrown: unknown;
  const mapping = mapWithConcurrency(['slow', 'fails', 'never'], 2, async (item) => {
    begun.push(item);
    if (item === 'fails') throw new Error('first');
    await slow.promise;
    throw new Error('second');
  }).catch((error) => {
    thrown = error;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect({ begun, thrown }).toEqual({ begun: ['slow', 'fails'], thrown: undefined });
  slow.resolve();
  await mapping;
  expect(thrown).toEqual(new Error('first'));
});
