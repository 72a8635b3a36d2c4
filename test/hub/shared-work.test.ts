import { expect, test } from 'vitest';
import { createSharedWork } from '../../hub/shared-work.ts';

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
