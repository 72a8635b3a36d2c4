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
