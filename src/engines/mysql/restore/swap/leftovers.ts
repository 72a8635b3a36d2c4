import { redact } from '../../../../process/redact.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { connectToServer } from '../../connection/connect.ts';
import { ConnectionLost } from '../../connection/session-errors.ts';
import { lockDestination } from '../../server/server.ts';
import { dropBeside, lookBeside, sweepBaseCopies } from '../beside.ts';
import { settle, type Work } from './journal.ts';
import type { Settling } from './settle-code.ts';

/** Settles every swap into the destination and drops what was made for it; the names of what is gone. */
async function settleAll(context: Settling, { server, url }: Omit<Work, 'work'>): Promise<string[]> {
  const destination = url.database ?? '';
  const { leftovers } = await lookBeside(server, destination);
  const dropped: string[] = [];
  // Tables of one may be named by the journal in another.
  for (const work of leftovers) await settle(context, { server, url, work });
  for (const work of leftovers) {
    if (await dropBeside(context, server, { name: work, destination })) dropped.push(work);
  }
  return [...dropped, ...(await sweepBaseCopies(context, server, destination))];
}

/**
 * Removes what killed loads into the destination have left; only while holding its lock. What stops it is a warning:
 * only a server that is gone ends the run.
 */
export async function sweepLeftovers(context: EngineContext, place: Omit<Work, 'work'>): Promise<void> {
  const { report, signal } = context;
  try {
    const dropped = await settleAll(context, place);
    if (dropped.length === 0) return;
    const message = `Removed leftovers of an interrupted load: ${dropped.join(', ')}`;
    report({ event: 'warning', code: 'leftovers_swept', message });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ConnectionLost || !(error instanceof Error)) throw error;
    const message = `Could not remove leftovers of an interrupted load into ${place.url.display}: ${redact(error.message)}`;
    report({ event: 'warning', code: 'leftover', message });
  }
}

/** When a run has failed; with a session of its own, whatever state the run's are in. */
export async function settleAfterFailure({ report }: EngineContext, url: DatabaseUrl): Promise<void> {
  const signal = AbortSignal.timeout(CLEAN_UP_TIMEOUT);
  try {
    await using server = await connectToServer({ signal }, url);
    await lockDestination(server, url.database ?? '');
    await settleAll({ signal, report }, { server, url });
  } catch {
    const message = `Could not drop the shadow database beside ${url.display}; the next load into it does`;
    report({ event: 'warning', code: 'leftover', message });
  }
}

const CLEAN_UP_TIMEOUT = 20_000;
