import { withOutcome } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { newDatabase, switchedIncompletely } from '../../shared/swap-incomplete.ts';
import { connectToServer } from '../connection/connect.ts';
import { lockDestination, readOid } from '../server/server.ts';

interface LostSwap {
  url: DatabaseUrl;
  /** The locked name whose database was to be replaced, and which it had. */
  name: string;
  before: number | null;
}

/** Returns the error of a swap whose answer is lost, with whether the server has committed it. */
export async function withSwapOutcome(context: EngineContext, error: unknown, { url, name, before }: LostSwap) {
  const clean: EngineContext = { ...context, signal: AbortSignal.timeout(TIMEOUT_MS) };
  try {
    await using server = await connectToServer(clean, url);
    // The session that has the lock ends when the server has ended its transaction.
    await lockDestination(server, name, { timeout: LOCK_TIMEOUT });
    if ((await readOid(server, name)) === before) return withOutcome(error, `${name} is unchanged.`);
  } catch {
    return withOutcome(error, `The server has not answered: ${name} is the previous or the new database as a whole.`);
  }
  const stated = withOutcome(error, newDatabase(name));
  return stated === error ? switchedIncompletely(name, { missing: [], cause: error }) : stated;
}

const TIMEOUT_MS = 20_000;
const LOCK_TIMEOUT = '15s';
