import { setTimeout as pause } from 'node:timers/promises';
import type { LockRow, LockSample } from './lock-record.ts';

/** Milliseconds between two samples. */
export const SAMPLE_INTERVAL_MS = 5;
/** A sample takes at most this part of the time. */
const LEAST_PAUSE = 9;

export interface LockSampler {
  /** Reads the locks now. */
  look: () => Promise<void>;
  /** Ends the samples, and resolves with their number. */
  stop: () => Promise<{ samples: number; longestGapMs: number }>;
}

interface SamplerOptions<Key> {
  /** The strong locks on relations of this database only. */
  read: () => Promise<LockRow<Key>[]>;
  now: () => number;
  add: (sample: LockSample<Key>) => void;
}

/** Reads the strong locks on relations of the database again and again. */
export function startSampling<Key>({ read, now, add }: SamplerOptions<Key>): LockSampler {
  let [samples, longestGapMs, lastAt] = [0, 0, now()];
  const look = async (): Promise<void> => {
    const sentAt = now();
    const rows = await read();
    samples += 1;
    longestGapMs = Math.max(longestGapMs, sentAt - lastAt);
    lastAt = sentAt;
    add({ rows, sentAt, at: now() });
  };
  const ending = new AbortController();
  const sampling = (async () => {
    while (!ending.signal.aborted) {
      const startedAt = now();
      await look();
      const tookMs = now() - startedAt;
      const pauseMs = Math.max(SAMPLE_INTERVAL_MS - tookMs, LEAST_PAUSE * tookMs);
      await pause(pauseMs, undefined, { signal: ending.signal }).catch(() => {});
    }
  })();
  // A session that is lost ends the samples; `stop` tells it.
  sampling.catch(() => {});
  return {
    look,
    async stop() {
      ending.abort();
      await sampling;
      return { samples, longestGapMs: Math.round(longestGapMs) };
    },
  };
}
