import { objectKey } from '../../src/repository/store/keys.ts';
import type { Database } from '../database/database.ts';
import { markChecked, markDamaged, nextReported, type ReportedObject } from '../database/snapshots/object-checks.ts';
import { withCheckLock } from '../database/snapshots/sweeps.ts';
import { type Log, reasonOf } from '../log.ts';
import { findObject, removeKeyOnce } from '../objects/bucket-calls.ts';
import type { Buckets } from '../objects/buckets.ts';
import { checkContent } from '../objects/check-content.ts';
import { type Periodic, startPeriodic } from './periodic.ts';

/** Milliseconds after which a failed check, and one of another instance, is looked at again. */
const INTERVAL = 60_000;

/** Milliseconds of the check of one object; one that takes longer is not checked. */
const TIMEOUT = 3_600_000;

interface CheckOptions {
  db: Database;
  buckets: Buckets;
  log: Log;
}

/**
 * Reads reported objects, one at a time, and compares their content with their names: a report alone changes nothing. A
 * damaged object leaves the bucket, and the next push sends it again. Targets take turns.
 */
export function startObjectChecks(options: CheckOptions): Periodic {
  const { db, log } = options;
  const work = async (ending: AbortSignal): Promise<void> => {
    const except: number[] = [];
    let served: string[] = [];
    const next = () => nextReported(db, { except, served });
    for (let object = await next(); object && !ending.aborted; object = await next()) {
      const reported = object;
      except.push(reported.id);
      // The first target again: every other one had its turn.
      served = served.includes(reported.target_id) ? [reported.target_id] : [...served, reported.target_id];
      await withCheckLock(db, reported.id, () => checkOne(reported, { ...options, ending }));
    }
  };
  const failure = 'Cannot look for reported objects; tried again';
  const checks = startPeriodic(work, { everyMs: INTERVAL, log, failure });
  checks.wake();
  return checks;
}

async function checkOne(
  reported: ReportedObject,
  { db, buckets, log, ending }: CheckOptions & { ending: AbortSignal },
): Promise<void> {
  const { id, sha256, target_id: target, stored_by } = reported;
  const timeout = AbortSignal.timeout(TIMEOUT);
  const signal = AbortSignal.any([ending, timeout]);
  try {
    const bucket = await buckets.open(reported.profile_id, target);
    const key = objectKey(sha256);
    const found = await findObject(bucket, key, signal);
    const bounds = { most: Number.POSITIVE_INFINITY, signal };
    const verdict = found === null ? 'missing' : await checkContent(found, sha256, bounds);
    if (verdict === 'matches' || verdict === 'too large') {
      await markChecked(db, id, { isIntact: verdict === 'matches' });
      return;
    }
    const isMarked = await markDamaged(db, reported, async () => {
      const there = await findObject(bucket, key);
      if (there?.etag !== found?.etag) return false;
      if (there) await removeKeyOnce(bucket, key);
      return true;
    });
    const fields = { target, object: sha256, verdict, stored_by };
    if (isMarked) log.error('An object is damaged; the next push sends it again', fields);
  } catch (error) {
    if (ending.aborted) return;
    log.error('Cannot check a reported object', { target, object: sha256, ...reasonOf(error) });
    if (timeout.aborted) await markChecked(db, id, { isIntact: false });
  }
}
