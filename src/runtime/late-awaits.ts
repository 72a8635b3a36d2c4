/** Milliseconds after which a failed promise that is not awaited ends the process, as a defect. */
const PATIENCE = 60_000;

/**
 * Lets a promise fail before it is awaited: the work that awaits it then fails with its error. Node would end the
 * process at once, in the middle of a swap. Returns a function that lists the errors of promises that are not awaited.
 */
export function permitLateAwaits(source: NodeJS.Process): () => unknown[] {
  const failed = new Map<Promise<unknown>, unknown>();
  source.on('unhandledRejection', (error, promise) => {
    failed.set(promise, error);
    setTimeout(() => {
      if (failed.has(promise)) throw error;
    }, PATIENCE).unref();
  });
  source.on('rejectionHandled', (promise) => void failed.delete(promise));
  return () => [...failed.values()];
}
