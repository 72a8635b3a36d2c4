import { createSemaphore } from '../../src/runtime/semaphore.ts';

/** Runs work once for all callers that wait for it under the same key. */
export type SharedWork<Result> = (key: string, work: () => Promise<Result>) => Promise<Result>;

/**
 * Work that begins after each of its callers has asked: who asks while it runs waits for the next one, and so sees all that
 * was written before. Nothing is remembered.
 */
export function createSharedWork<Result>(): SharedWork<Result> {
  const running = new Map<string, Promise<Result>>();
  const next = new Map<string, Promise<Result>>();
  const begin = (key: string, work: () => Promise<Result>): Promise<Result> => {
    next.delete(key);
    const result = work().finally(() => {
      if (running.get(key) === result) running.delete(key);
    });
    running.set(key, result);
    return result;
  };
  return (key, work) => {
    const before = running.get(key);
    if (before === undefined) return begin(key, work);
    const start = (): Promise<Result> => begin(key, work);
    const waiting = next.get(key) ?? before.then(start, start);
    next.set(key, waiting);
    return waiting;
  };
}

/** Keys of one batch, but for those of its last caller. */
const MOST_KEYS = 2000;

/** Loads the keys of all callers that wait by one call, which begins after each of them has asked; so many calls at once. */
export function createBatches<Row>(atOnce: number, load: (keys: string[]) => Promise<Map<string, Row>>): typeof load {
  const inTurn = createSemaphore(atOnce);
  let waiting: { keys: Set<string>; rows: Promise<Map<string, Row>> } | null = null;
  const begin = () => {
    const keys = new Set<string>();
    const rows = inTurn(async () => {
      // The caller adds its keys first.
      await Promise.resolve();
      if (waiting?.keys === keys) waiting = null;
      return load([...keys]);
    });
    return { keys, rows };
  };
  return (keys) => {
    const batch = waiting ?? begin();
    for (const key of keys) batch.keys.add(key);
    waiting = batch.keys.size < MOST_KEYS ? batch : null;
    return batch.rows;
  };
}
