/** The first failure aborts the rest, and is thrown when all have ended. */
export async function runTogether(
  signal: AbortSignal,
  works: ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  await Promise.all(works.map((work) => work(either).catch((error) => failed.abort(error))));
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
}

/** Runs the same work several times at once. */
export function runWorkers(
  signal: AbortSignal,
  { count, work }: { count: number; work: (signal: AbortSignal) => Promise<void> },
): Promise<void> {
  return runTogether(signal, Array<typeof work>(count).fill(work));
}
