import {
  isSweptSince,
  recordSweep,
  removeDeletedRows,
  type SweptTarget,
  targetsToSweep,
  withSweepLock,
} from '../database/snapshots/sweeps.ts';
import { type Log, reasonOf } from '../log.ts';
import type { BucketWork } from '../objects/buckets.ts';
import { type Periodic, startPeriodic } from './periodic.ts';
import { sweepTarget } from './sweep.ts';

const MINUTE = 60_000;

/** Each target is swept so often, by whichever instance comes first. */
const INTERVAL = 60 * MINUTE;

/** A sweep of one target that takes longer is given up; the next one goes on with it. */
const TIMEOUT = 10 * MINUTE;

export interface SweepOptions extends BucketWork {
  log: Log;
  clock: () => Date;
}

/** Sweeps every target that is due, and that no other instance sweeps. */
export async function sweepDue(options: SweepOptions, signal: AbortSignal): Promise<void> {
  const { db, clock } = options;
  await removeDeletedRows(db, new Date(clock().getTime() - MINUTE));
  const tried = new Set<string>();
  while (!signal.aborted) {
    const due = (await targetsToSweep(db, dueBefore(clock()))).filter(({ id }) => !tried.has(id));
    if (due.length === 0) return;
    for (const target of due) {
      tried.add(target.id);
      if (signal.aborted) return;
      await withSweepLock(db, { targetId: target.id }, () => sweepOne(options, target, signal));
    }
  }
}

function dueBefore(now: Date): Date {
  return new Date(now.getTime() - INTERVAL);
}

/** A failure of one bucket does not keep the others from being swept. */
async function sweepOne(options: SweepOptions, target: SweptTarget, ending: AbortSignal) {
  const { db, log, clock } = options;
  const now = clock();
  // Another instance may have swept it between the list and the lock.
  if (await isSweptSince(db, target.id, dueBefore(now))) return;
  const signal = AbortSignal.any([ending, AbortSignal.timeout(TIMEOUT)]);
  const fields = { target: target.id };
  try {
    const { imported, objects, problems } = await sweepTarget({ ...options, now, signal }, target);
    if (imported.length > 0) log.info('Imported snapshots', { ...fields, snapshots: imported.join(' ') });
    if (objects > 0) log.info('Swept', { ...fields, objects });
    for (const problem of problems)
      log.error('Target not swept: a manifest cannot be imported', { ...fields, problem });
  } catch (error) {
    if (ending.aborted) return;
    log.error('Cannot sweep a target; tried again in an hour', { ...fields, ...reasonOf(error) });
  }
  await recordSweep(db, target.id, now);
}

/** Looks every minute. */
export function startSweeps(options: SweepOptions): Periodic {
  const failure = 'Cannot look for targets to sweep; tried again';
  return startPeriodic((ending) => sweepDue(options, ending), { everyMs: MINUTE, log: options.log, failure });
}
