/** A promise that failed and that nobody has awaited within so many milliseconds is a defect. */
const PATIENCE = 60_000;

/**
 * Lets a promise fail before it is awaited: the work that awaits it then fails with its error. Node would end the
 * process at once, in the middle of a swap. `lost` returns errors that nobody has awaited yet.
 */
export function permitLateAwaits(source: NodeJS.Process): { lost: () => unknown[] } {
  const failed = new Map<Promise<unknown>, unknown>();
  source.on('unhandledRejection', (error, promise) => {
    failed.set(promise, error);
    setTimeout(() => {
      if (failed.has(promise)) throw error;
    }, PATIENCE).unref();
  });
  source.on('rejectionHandled', (promise) => void failed.delete(promise));
  return { lost: () => [...failed.values()] };
}
