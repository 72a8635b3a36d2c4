import { expect, test } from 'vitest';
import { createBatches, createSharedWork } from '../../hub/lists/shared-work.ts';

/** Work whose runs end when they are told to; each run returns its number. */
function slowWork() {
  const runs: PromiseWithResolvers<void>[] = [];
  const work = async (): Promise<number> => {
    const run = Promise.withResolvers<void>();
    const number = runs.push(run);
    await run.promise;
    return number;
  };
  return { runs, work };
}

test('callers that ask while work runs share the next run, which begins after they asked', async () => {
  const { runs, work } = slowWork();
  const share = createSharedWork<number>();
  const first = share('a', work);
  const later = [share('a', work), share('a', work)];
  expect(runs).toHaveLength(1);
  runs[0]?.resolve();
  expect(await first).toBe(1);
  await Promise.resolve();
  const last = share('a', work);
  expect(runs).toHaveLength(2);
  runs[1]?.resolve();
  expect(await Promise.all(later)).toEqual([2, 2]);
  await Promise.resolve();
  runs[2]?.resolve();
  expect(await last).toBe(3);
});

test('a run that fails fails for its callers only, and other keys do not wait', async () => {
  const { runs, work } = slowWork();
  const share = createSharedWork<number>();
  const failed = share('a', work);
  const after = share('a', work);
  const other = share('b', work);
  expect(runs).toHaveLength(2);
  runs[0]?.reject(new Error('broken'));
  await expect(failed).rejects.toThrow('broken');
  runs[1]?.resolve();
  expect(await other).toBe(2);
  runs[2]?.resolve();
  expect(await after).toBe(3);
});

test('callers that wait for a batch share the next call, which has the keys of all of them', async () => {
  const calls: { keys: string[]; end: () => void }[] = [];
  const load = createBatches(1, async (keys) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    calls.push({ keys, end: resolve });
    await promise;
    if (keys.includes('broken')) throw new Error('broken');
    return new Map(keys.map((key) => [key, calls.length]));
  });
  const begun = (count: number) => expect.poll(() => calls.length).toBe(count);
  const first = load(['a']);
  await begun(1);
  const later = [load(['a', 'b']), load(['b', 'broken'])];
  calls[0]?.end();
  expect(await first).toEqual(new Map([['a', 1]]));
  await begun(2);
  calls[1]?.end();
  for (const batch of later) await expect(batch).rejects.toThrow('broken');
  const last = load(['c']);
  await begun(3);
  calls[2]?.end();
  expect(await last).toEqual(new Map([['c', 3]]));
  expect(calls.map(({ keys }) => keys)).toEqual([['a'], ['a', 'b', 'broken'], ['c']]);
});

test('a call that is slow does not delay the next one', async () => {
  const slow = Promise.withResolvers<void>();
  const load = createBatches(2, async (keys) => {
    if (keys.includes('slow')) await slow.promise;
    return new Map(keys.map((key) => [key, key]));
  });
  const first = load(['slow']);
  await expect.poll(() => load(['fast'])).toEqual(new Map([['fast', 'fast']]));
  slow.resolve();
  expect(await first).toEqual(new Map([['slow', 'slow']]));
});
