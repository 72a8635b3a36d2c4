import { createYield } from '../../process/yielding.ts';
import { headlineOf } from '../../repository/headlines/headline.ts';
import { filesOf } from '../../repository/repository.ts';
import type { Context } from '../../runtime/context.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { serversDiskUse } from '../servers/disk-use.ts';
import { localRepository } from './local-repository.ts';
import { isSanitized, trustedKeysOf } from './signatures.ts';

const MOST = 8;
const TARGETS_AT_ONCE = 4;

/** Reading more manifests takes too long for a list. */
const MOST_READ = 500;

/**
 * Stored bytes of a target's snapshots on this machine, shared objects counted once, and of its images and servers; null
 * for more than 500 snapshots.
 */
export async function localDiskUse(context: Context, target: string): Promise<number | null> {
  const repository = localRepository(context);
  const files = await repository.files(target);
  if (files.length > MOST_READ) return null;
  const letEventsIn = createYield();
  const objects = new Map<string, number>();
  for (const { key } of files) {
    context.signal.throwIfAborted();
    await letEventsIn();
    const manifest = await repository.read(key);
    for (const { sha256, stored_bytes } of manifest ? filesOf(manifest) : []) objects.set(sha256, stored_bytes);
  }
  const { size_bytes = 0 } = (await serversDiskUse(context, target)) ?? {};
  return [...objects.values()].reduce((sum, bytes) => sum + bytes, size_bytes);
}

/** Sizes in bytes of the newest local originals, at most eight, oldest first. */
export async function listSizes(context: Context, targets: string[]): Promise<Map<string, number[]>> {
  const repository = localRepository(context);
  const trustedKeys = trustedKeysOf(context);
  const letEventsIn = createYield();
  const read = await mapWithConcurrency(targets, TARGETS_AT_ONCE, async (target): Promise<[string, number[]]> => {
    const sizes: number[] = [];
    for (const { key } of await repository.files(target)) {
      if (sizes.length === MOST) break;
      context.signal.throwIfAborted();
      await letEventsIn();
      const manifest = await repository.read(key);
      if (manifest && !isSanitized(headlineOf(manifest), trustedKeys))
        sizes.push(filesOf(manifest).reduce((sum, { bytes }) => sum + bytes, 0));
    }
    return [target, sizes.toReversed()];
  });
  return new Map(read);
}
