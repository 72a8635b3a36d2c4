/** Lends one of several for as long as the work takes; work waits until one is free. */
export function lending<Lent>(all: Lent[]): <T>(work: (lent: Lent) => Promise<T>) => Promise<T> {
  const free = [...all];
  const waiting: ((lent: Lent) => void)[] = [];
  return async (work) => {
    const lent = free.pop() ?? (await new Promise<Lent>((resolve) => waiting.push(resolve)));
    try {
      return await work(lent);
    } finally {
      const next = waiting.shift();
      if (next) next(lent);
      else free.push(lent);
    }
  };
}
