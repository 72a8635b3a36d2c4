export interface PooledBuffer extends Disposable {
  bytes: Buffer;
}

/**
 * Bounds the memory of transfers: a request waits, in call order, until its length is free. One allocation serves all,
 * because the garbage collector is slow to free large buffers.
 */
export interface BufferPool {
  /** A length above the pool's total waits for the whole pool and is allocated separately. */
  acquire(length: number): Promise<PooledBuffer>;
}

interface Span {
  start: number;
  end: number;
}

export function createBufferPool(total: number): BufferPool {
  let memory: Buffer | undefined;
  const used: Span[] = [];
  const waiting: { length: number; resolve: (span: Span) => void }[] = [];

  function serve(): void {
    for (let next = waiting[0]; next; next = waiting[0]) {
      const start = findRoom(used, { length: next.length, total });
      if (start === null) return;
      const span = { start, end: start + next.length };
      waiting.shift();
      used.push(span);
      used.sort((a, b) => a.start - b.start);
      next.resolve(span);
    }
  }

  return {
    async acquire(length) {
      const { promise, resolve } = Promise.withResolvers<Span>();
      waiting.push({ length: Math.min(length, total), resolve });
      serve();
      const span = await promise;
      memory ??= Buffer.allocUnsafeSlow(total);
      return {
        bytes: length > total ? Buffer.allocUnsafeSlow(length) : memory.subarray(span.start, span.end),
        [Symbol.dispose]() {
          used.splice(used.indexOf(span), 1);
          serve();
        },
      };
    },
  };
}

function findRoom(used: Span[], { length, total }: { length: number; total: number }): number | null {
  let start = 0;
  for (const span of used) {
    if (span.start - start >= length) return start;
    start = span.end;
  }
  return total - start >= length ? start : null;
}
