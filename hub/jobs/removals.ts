import type { Database } from '../database/database.ts';
import { removeOne, type SnapshotRow } from '../database/snapshots/snapshots.ts';
import { type Log, reasonOf } from '../log.ts';
import { removeKey } from '../objects/bucket-calls.ts';
import type { Buckets } from '../objects/buckets.ts';
import { type Periodic, startPeriodic } from './periodic.ts';

/** Interval in milliseconds of the search for removals that another instance left. */
const INTERVAL = 60_000;

/** Removes the manifests of removed snapshots, then their rows: the mark in the row is the job. */
export function startRemovals({ db, buckets, log }: { db: Database; buckets: Buckets; log: Log }): Periodic {
  const failure = 'Cannot remove a snapshot; tried again';
  const remove = async ({ profile_id, target_id, manifest_key }: SnapshotRow, images: string[]): Promise<void> => {
    const bucket = await buckets.open(profile_id, target_id);
    // First: an image without a snapshot would be lost.
    for (const key of [...images, manifest_key]) await removeKey(bucket, key);
  };
  const work = async (ending: AbortSignal): Promise<void> => {
    // The next round tries a bucket that failed again.
    const failed: number[] = [];
    while (!ending.aborted) {
      const found = await removeOne(db, { except: failed, remove });
      if (found === null) return;
      if (found.failure === null) continue;
      failed.push(found.pk);
      log.error(failure, reasonOf(found.failure));
    }
  };
  const removals = startPeriodic(work, { everyMs: INTERVAL, log, failure });
  removals.wake();
  return removals;
}
