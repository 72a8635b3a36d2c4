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
