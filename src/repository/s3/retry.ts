import { setTimeout } from 'node:timers/promises';

/** In ms; each further pause is twice as long, up to the last. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 10_000;

/** Retries temporary errors, with growing pauses of random length, so that many clients do not return at once. */
export async function retry<Result>(
  attempt: () => Promise<Result>,
  { signal, attempts }: { signal: AbortSignal; attempts: (error: unknown) => number },
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
