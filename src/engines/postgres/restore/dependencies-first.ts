import { SqlError } from '../connection/session-errors.ts';

/**
 * Does work for each item, and again for items that the server refuses with the SQLSTATE because they need another one
 * first. Returns the errors that remain.
 */
export async function dependenciesFirst<Item>(
  items: Item[],
  { refusal, work }: { refusal: string; work: (item: Item) => Promise<void> },
): Promise<SqlError[]> {
  for (let left = items; ; ) {
    const waiting: Item[] = [];
    const errors: SqlError[] = [];
    for (const item of left) {
      await work(item).catch((error) => {
        if (!(error instanceof SqlError && error.sqlstate === refusal)) throw error;
        waiting.push(item);
        errors.push(error);
      });
    }
    if (waiting.length === 0 || waiting.length === left.length) return errors;
    left = waiting;
  }
}
