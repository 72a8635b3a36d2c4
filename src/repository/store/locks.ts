import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { UserError } from '../../runtime/errors.ts';
import { type Report, withStep } from '../../runtime/events.ts';
import type { Store, StoredFile } from './store.ts';

/**
 * Separates sweeps of a bucket from pushes, across machines. A push relies on existing objects, a sweep removes
 * unreferenced ones. Each first writes a lock object and then lists the others' locks, so that at least one of two sees
 * the other: a sweep gives way to a push, a push waits for a sweep.
 */
export interface Locks {
  /** Waits for a sweep that is going on; step: `wait`. */
  whilePushing<Result>(work: (renew: () => Promise<void>) => Promise<Result>): Promise<Result>;
  /** Runs `work`, which removes objects while `mayGoOn`; `null` when another operation is active. */
  whileSweeping<Result>(work: (mayGoOn: () => Promise<boolean>) => Promise<Result>): Promise<Result | null>;
}

const MINUTE = 60_000;

/** Exact: others may use `locks/` too. */
const LOCK = /^locks\/(push|sweep)-[0-9a-f]{16}$/;

const LOCK_CONTENT = 'going on\n';

type Kind = 'push' | 'sweep';

/** Age in ms, by the store's clock, at which a lock of a killed process expires. */
const STALE_AFTER_MS: Record<Kind, number> = { push: 24 * 60 * MINUTE, sweep: 15 * MINUTE };

/** A sweep ends well before its lock expires. */
const LONGEST_SWEEP = 10 * MINUTE;

const REFRESH_INTERVAL_MS = 60 * MINUTE;
const RETRY_INTERVAL_MS = 500;
const UNLOCK_TIMEOUT = 5000;
const LONGEST_WAIT = STALE_AFTER_MS.sweep + MINUTE;

interface Others {
  /** The own lock is still there. */
  isLocked: boolean;
  doing: Set<Kind>;
  /** After this many ms the locks of all sweeps expire; 0 without one. */
  sweepMs: number;
  /** Keys of expired locks. */
  dead: string[];
}

export function createLocks(store: Store, { signal, report }: { signal: AbortSignal; report: Report }): Locks {
  async function lock(kind: Kind): Promise<string> {
    const key = `locks/${kind}-${randomBytes(8).toString('hex')}`;
    await store.write(key, LOCK_CONTENT);
    return key;
  }

  async function others(own: string): Promise<Others> {
    const all = (await store.list('locks')).filter(({ key }) => LOCK.test(key));
    const lock = all.find(({ key }) => key === own);
    const now = lock?.modified ?? new Date();
    const kindOf = ({ key }: StoredFile): Kind => (key.startsWith('locks/push-') ? 'push' : 'sweep');
    const remaining = (one: StoredFile): number =>
      STALE_AFTER_MS[kindOf(one)] - (now.getTime() - one.modified.getTime());
    const isLive = (one: StoredFile): boolean => remaining(one) > 0;
    const others = all.filter(({ key }) => key !== own);
    const live = others.filter(isLive);
    return {
      isLocked: lock !== undefined,
      doing: new Set(live.map(kindOf)),
      sweepMs: Math.max(0, ...live.filter((one) => kindOf(one) === 'sweep').map(remaining)),
      dead: others.filter((one) => !isLive(one)).map(({ key }) => key),
    };
  }

  async function waitForSweeps(own: string): Promise<void> {
    const { sweepMs } = await others(own);
    if (sweepMs === 0) return;
    const step = {
      step: 'wait',
      label: `Wait for a sweep of ${store.name}, at most ${Math.ceil(sweepMs / MINUTE)} min if it was killed`,
      done: `Waited for a sweep of ${store.name}`,
    };
    await withStep(report, step, async () => {
      for (const waited = stopwatch(); (await others(own)).sweepMs > 0; ) {
        if (waited() > LONGEST_WAIT) throw busy(store);
        await setTimeout(RETRY_INTERVAL_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    });
  }

  return {
    async whilePushing(work) {
      const own = await lock('push');
      let age = stopwatch();
      try {
        await waitForSweeps(own);
        return await work(async () => {
          // A sweep may have removed objects that this push relies on.
          if (age() > STALE_AFTER_MS.push) throw expired(store);
          if (age() < REFRESH_INTERVAL_MS) return;
          age = stopwatch();
          await store.write(own, LOCK_CONTENT);
        });
      } finally {
        await unlock(store, own);
      }
    },

    async whileSweeping(work) {
      const own = await lock('sweep');
      const elapsed = stopwatch();
      try {
        const { doing, dead } = await others(own);
        if (doing.size > 0) return null;
        for (const key of dead) await store.remove(key);
        return await work(async () => {
          if (elapsed() >= LONGEST_SWEEP) return false;
          const { isLocked, doing } = await others(own);
          return isLocked && !doing.has('push') && elapsed() < LONGEST_SWEEP;
        });
      } finally {
        await unlock(store, own);
      }
    },
  };
}

/** One clock stops while the machine sleeps, the other may be set back. */
function stopwatch(): () => number {
  const [began, set] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - began, Date.now() - set);
}

/** Also after an interruption; a remaining lock expires. */
async function unlock(store: Store, key: string): Promise<void> {
  await store.remove(key, AbortSignal.timeout(UNLOCK_TIMEOUT)).catch(() => {});
}

function busy(store: Store): UserError {
  return new UserError('storage_busy', `${store.name} has been locked by a sweep for too long`, {
    hint: 'Try again in some minutes.',
  });
}

function expired(store: Store): UserError {
  return new UserError('push_expired', `The push to ${store.name} was suspended for more than a day`, {
    hint: 'Push again: objects in the bucket are not sent again.',
  });
}
