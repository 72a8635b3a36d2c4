/** A piece of memory, until it is disposed of. */
export interface Lent extends Disposable {
  bytes: Buffer;
}

/**
 * Memory that is lent in pieces, so that work begins only while all that is under way fits, in the order of asking. It
 * is one and the same throughout: the garbage collector lets what is large lie, and looks for it again and again.
 */
export interface Memory {
  /** More than there is in all waits for all of it, and is made for the purpose. */
  take(length: number): Promise<Lent>;
}

interface Span {
  start: number;
  end: number;
}

export function createMemory(total: number): Memory {
  let all: Buffer | undefined;
  /** By their starts. */
  const lent: Span[] = [];
  const waiting: { length: number; begin: (span: Span) => void }[] = [];

  function serve(): void {
    for (let next = waiting[0]; next; next = waiting[0]) {
      const start = findRoom(lent, { length: next.length, total });
      if (start === null) return;
      const span = { start, end: start + next.length };
      waiting.shift();
      lent.push(span);
      lent.sort((a, b) => a.start - b.start);
      next.begin(span);
    }
  }

  return {
    async take(length) {
      const turn = Promise.withResolvers<Span>();
      waiting.push({ length: Math.min(length, total), begin: turn.resolve });
      serve();
      const span = await turn.promise;
      all ??= Buffer.allocUnsafeSlow(total);
      return {
        bytes: length > total ? Buffer.allocUnsafeSlow(length) : all.subarray(span.start, span.end),
        [Symbol.dispose]() {
          lent.splice(lent.indexOf(span), 1);
          serve();
        },
      };
    },
  };
}

/** Where a piece fits between what is lent. */
function findRoom(lent: Span[], { length, total }: { length: number; total: number }): number | null {
  let start = 0;
  for (const span of lent) {
    if (span.start - start >= length) return start;
    start = span.end;
  }
  return total - start >= length ? start : null;
}
