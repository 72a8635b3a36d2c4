import { toUserError } from '../../src/runtime/errors.ts';
import type { Database } from '../database/database.ts';
import { removeOne, type SnapshotRow } from '../database/snapshots.ts';
import type { Log } from '../log.ts';
import { removeKey } from '../objects/bucket-calls.ts';
import type { Buckets } from '../objects/buckets.ts';

/** Interval in milliseconds of the search for removals that another instance left. */
const INTERVAL = 60_000;

export interface Removals extends AsyncDisposable {
  /** Looks now. */
  wake(): void;
  /** Resolves when there is nothing left to remove. */
  settled(): Promise<void>;
}

/** Removes the manifests of removed snapshots, then their rows: the mark in the row is the job. */
export function startRemovals({ db, buckets, log }: { db: Database; buckets: Buckets; log: Log }): Removals {
  let running: Promise<void> = Promise.resolve();
  let ended = false;
  const logFailure = (error: unknown): void =>
    log.error('Cannot remove a snapshot; tried again', { reason: toUserError(error).message.slice(0, 500) });
  const remove = async ({ profile_id, target_id, manifest_key }: SnapshotRow): Promise<void> =>
    removeKey(await buckets.open(profile_id, target_id), manifest_key);
  const work = async (): Promise<void> => {
    // Of a bucket that fails: the next round tries again.
    const failed: number[] = [];
    try {
      while (!ended) {
        const found = await removeOne(db, { except: failed, remove });
        if (found === null) return;
        if (found.failure === null) continue;
        failed.push(found.pk);
        logFailure(found.failure);
      }
    } catch (error) {
      logFailure(error);
    }
  };
  const wake = (): void => {
    if (!ended) running = running.then(work);
  };
  const timer = setInterval(wake, INTERVAL);
  wake();
  return {
    wake,
    settled: () => running,
    async [Symbol.asyncDispose]() {
      ended = true;
      clearInterval(timer);
      await running;
    },
  };
}
