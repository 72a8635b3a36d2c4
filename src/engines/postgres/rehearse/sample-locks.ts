import { quoteText } from '../connection/quote.ts';
import type { Wire } from '../connection/wire.ts';
import { type LockRow, type LockSample, STRONG_MODES } from './lock-record.ts';

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

interface SamplerOptions {
  wire: Wire;
  now: () => number;
  add: (sample: LockSample) => void;
}

/** Reads the strong locks on relations of the database again and again. */
export async function startSampling({ wire, now, add }: SamplerOptions): Promise<LockSampler> {
  await wire.execute(PREPARE);
  let [samples, longestGapMs, lastAt] = [0, 0, now()];
  const look = async (): Promise<void> => {
    const sentAt = now();
    const [text = '[]'] = await wire.query('EXECUTE strong_locks');
    samples += 1;
    longestGapMs = Math.max(longestGapMs, sentAt - lastAt);
    lastAt = sentAt;
    add({ rows: JSON.parse(text) as LockRow[], sentAt, at: now() });
  };
  const ending = new AbortController();
  const sampling = (async () => {
    while (!ending.signal.aborted) {
      const startedAt = now();
      await look();
      const tookMs = now() - startedAt;
      await pause(Math.max(SAMPLE_INTERVAL_MS - tookMs, LEAST_PAUSE * tookMs), ending.signal);
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

/** Reads the locks of this database only. */
const PREPARE = `PREPARE strong_locks AS
  SELECT coalesce(json_agg(json_build_array(pid, relation::int8, mode)), '[]') FROM pg_locks
  WHERE locktype = 'relation' AND granted AND pid <> pg_backend_pid()
    AND mode IN (${STRONG_MODES.map(quoteText).join(', ')})
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener(
    'abort',
    () => {
      clearTimeout(timer);
      resolve();
    },
    { once: true },
  );
  return promise;
}
