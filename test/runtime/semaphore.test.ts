import { expect, test } from 'vitest';
import { createSemaphore } from '../../src/runtime/semaphore.ts';

test('a semaphore runs no more work than it has permits, in order, and a failure gives its permit back', async () => {
  const inTurn = createSemaphore(2);
  const started: number[] = [];
  const ends: ((failure?: Error) => void)[] = [];
  const works = Array.from({ length: 5 }, (_, index) =>
    inTurn(
      () =>
        new Promise<number>((resolve, reject) => {
          started.push(index);
          ends[index] = (failure) => (failure ? reject(failure) : resolve(index));
        }),
    ),
  );
  expect(started).toEqual([0, 1]);
  ends[1]?.(new Error('refused'));
  await expect(works[1]).rejects.toThrow('refused');
  expect(started).toEqual([0, 1, 2]);
  ends[0]?.();
  ends[2]?.();
  await Promise.all([works[0], works[2]]);
  expect(started).toEqual([0, 1, 2, 3, 4]);
  ends[3]?.();
  ends[4]?.();
  expect(await Promise.all([works[3], works[4]])).toEqual([3, 4]);
});
