/** The first failure aborts the rest, and is thrown when all have ended. */
export async function runTogether(signal: AbortSignal, works: ((signal: AbortSignal) => Promise<void>)[]) {
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

/** Runs work with one of the resources when it is free, in the order of the calls. */
export type WithResource<Resource> = <T>(work: (resource: Resource) => Promise<T>) => Promise<T>;

export function createResourcePool<Resource>(resources: Resource[]): WithResource<Resource> {
  const free = [...resources];
  const waiting: ((resource: Resource) => void)[] = [];
  return async (work) => {
    const resource = free.pop() ?? (await new Promise<Resource>((resolve) => waiting.push(resolve)));
    try {
      return await work(resource);
    } finally {
      const next = waiting.shift();
      if (next) next(resource);
      else free.push(resource);
    }
  };
}
