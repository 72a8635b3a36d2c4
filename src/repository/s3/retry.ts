import { setTimeout } from 'node:timers/promises';

export interface RetryOptions {
  signal: AbortSignal;
  /** How often in all an attempt that failed so may be made; 1 gives up at once. */
  attempts: (error: unknown) => number;
}

/** The first pause; each further one is twice as long, and none longer than the last. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 10_000;

/** Tries again what may succeed later, with growing pauses of random length so that many do not come at once. */
export async function retry<Result>(
  attempt: () => Promise<Result>,
  { signal, attempts }: RetryOptions,
): Promise<Result> {
  for (let made = 1; ; made += 1) {
    try {
      signal.throwIfAborted();
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (made >= attempts(error)) throw error;
      const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (made - 1));
      await setTimeout(pause * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}
