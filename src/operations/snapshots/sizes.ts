import { createYield } from '../../process/yielding.ts';
import { filesOf } from '../../repository/repository.ts';
import type { Context } from '../../runtime/context.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { localRepository } from './local-repository.ts';

const MOST = 8;
const TARGETS_AT_ONCE = 4;

/** Sizes in bytes of the newest local originals, at most eight, oldest first. */
export async function listSizes(context: Context, targets: string[]): Promise<Map<string, number[]>> {
  const repository = localRepository(context);
  const letEventsIn = createYield();
  const read = await mapWithConcurrency(targets, TARGETS_AT_ONCE, async (target): Promise<[string, number[]]> => {
    const sizes: number[] = [];
    for (const { key } of await repository.files(target)) {
      if (sizes.length === MOST) break;
      context.signal.throwIfAborted();
      await letEventsIn();
      const manifest = await repository.read(key);
      if (manifest && !manifest.sanitized) sizes.push(filesOf(manifest).reduce((sum, { bytes }) => sum + bytes, 0));
    }
    return [target, sizes.toReversed()];
  });
  return new Map(read);
}
