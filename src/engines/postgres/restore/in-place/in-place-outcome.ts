import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { connectToServer } from '../../connection/connect.ts';
import { quoteNumber } from '../../connection/quote.ts';

/** Returns what an interrupted load has left; `transaction` is its id where it was about to be committed. */
export async function inPlaceOutcome(
  context: EngineContext,
  url: DatabaseUrl,
  transaction: string | undefined,
): Promise<string> {
  const unchanged = `${url.database} is unchanged.`;
  if (transaction === undefined) return unchanged;
  try {
    await using server = await connectToServer({ ...context, signal: AbortSignal.timeout(TIMEOUT_MS) }, url);
    const query = `SELECT txid_status(${quoteNumber(Number(transaction))}) AS status`;
    while (true) {
      const [row] = await server.query<{ status: string | null }>(query);
      if (row?.status === 'committed') return replacedInPlace(url);
      if (row?.status !== 'in progress') return unchanged;
      await server.execute('SELECT pg_sleep(0.1)');
    }
  } catch {
    return `The server has not answered: ${url.database} has its previous or its new content as a whole.`;
  }
}

export function replacedInPlace({ database }: DatabaseUrl): string {
  return `${database} is the new database. A load in place keeps no previous one.`;
}

const TIMEOUT_MS = 20_000;
