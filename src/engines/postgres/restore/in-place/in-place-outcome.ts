import { UserError, withOutcome } from '../../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { connectionLost } from '../../../shared/connection/explain-errors.ts';
import { connectToServer } from '../../connection/connect.ts';
import { quoteNumber } from '../../connection/quote.ts';
import { ConnectionLost } from '../../connection/session-errors.ts';

interface Failure {
  error: unknown;
  /** Its id, where it was about to be committed. */
  transaction: string | undefined;
}

/** Returns the error with what the transaction has left: its end may fail after COMMIT. */
export async function withInPlaceOutcome(context: EngineContext, url: DatabaseUrl, { error, transaction }: Failure) {
  const outcome = transaction === undefined ? unchanged(url) : await outcomeOf(context, url, transaction);
  if (outcome === unchanged(url)) return withOutcome(error, outcome);
  const isLost = error instanceof ConnectionLost;
  const explained = isLost ? connectionLost(url, { details: [error.message], cause: error }) : error;
  if (!(explained instanceof UserError)) return error;
  const { code, message, exit, details } = explained;
  return new UserError(code, message, { exit, details, hint: outcome, cause: error });
}

async function outcomeOf(context: EngineContext, url: DatabaseUrl, transaction: string): Promise<string> {
  try {
    await using server = await connectToServer({ ...context, signal: AbortSignal.timeout(TIMEOUT_MS) }, url);
    const query = `SELECT txid_status(${quoteNumber(Number(transaction))}) AS status`;
    while (true) {
      const [row] = await server.query<{ status: string | null }>(query);
      if (row?.status === 'committed') return replacedInPlace(url);
      if (row?.status !== 'in progress') return unchanged(url);
      await server.execute('SELECT pg_sleep(0.1)');
    }
  } catch {
    return `The server has not answered: ${url.database} has its previous or its new content as a whole.`;
  }
}

function unchanged({ database }: DatabaseUrl): string {
  return `${database} is unchanged.`;
}

export function replacedInPlace({ database }: DatabaseUrl): string {
  return `${database} is the new database. A load in place keeps no previous one.`;
}

const TIMEOUT_MS = 20_000;
