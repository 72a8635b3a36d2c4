import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connectToServer } from '../connection/connect.ts';
import { dropMarked, lockDestination } from '../server/server.ts';

/** With a session of its own: the run's sessions may be gone with what made it fail. */
export async function dropAfterFailure(context: EngineContext, { url, names }: { url: DatabaseUrl; names: string[] }) {
  const clean: EngineContext = { ...context, signal: AbortSignal.timeout(CLEAN_UP_TIMEOUT) };
  const destination = url.database ?? '';
  try {
    await using server = await connectToServer(clean, url);
    // The server may still be making the database for the session that was ended, which holds the lock until it is done.
    if (context.signal.aborted) await lockDestination(server, destination, { timeout: LOCK_TIMEOUT });
    for (const name of names) await dropMarked(server, { name, destination, report: context.report });
  } catch {
    const message = `Could not remove ${names.join(' and ')}; the next load into ${url.display} does`;
    context.report({ event: 'warning', code: 'leftover', message });
  }
}

const CLEAN_UP_TIMEOUT = 20_000;
const LOCK_TIMEOUT = '15s';
