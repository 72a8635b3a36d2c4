/** Lets work begin only while all that is under way fits: `take` waits until there is room, in the order of asking. */
export interface Budget {
  /** Resolves with what gives the amount back. More than there is in all counts as all. */
  take(amount: number): Promise<Disposable>;
}

export function createBudget(total: number): Budget {
  let left = total;
  const waiting: { amount: number; begin: () => void }[] = [];

  function serve(): void {
    for (let next = waiting[0]; next && next.amount <= left; next = waiting[0]) {
      waiting.shift();
      left -= next.amount;
      next.begin();
    }
  }

  return {
    async take(asked) {
      const amount = Math.min(asked, total);
      const turn = Promise.withResolvers<void>();
      waiting.push({ amount, begin: turn.resolve });
      serve();
      await turn.promise;
      return {
        [Symbol.dispose]() {
          left += amount;
          serve();
        },
      };
    },
  };
}
