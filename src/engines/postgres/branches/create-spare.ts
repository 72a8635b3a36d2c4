import { redact } from '../../../process/redact.ts';
import { UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { connectToServer } from '../connection/connect.ts';
import type { PostgresSession } from '../connection/session.ts';
import { auxiliaryNames, findAuxiliaryDatabases, lockDestination } from '../server/server.ts';
import { dropAfterFailure } from '../swap/drop-after-failure.ts';
import { writeMark } from '../swap/mark.ts';
import { rename } from '../swap/swap.ts';
import { createClosedCopy, findBaseCopies, readSessions } from './base-copies.ts';

/** Makes a spare of a usable base copy that has none, unless another run uses the destination. */
export async function replaceTakenSpare(context: EngineContext, url: DatabaseUrl): Promise<void> {
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url, { settings: { statement_timeout: '0' } });
  try {
    // The server may end late the session that has dropped branches.
    await lockDestination(server, destination, { timeout: '1s' });
  } catch (error) {
    if (error instanceof UserError && error.code === 'destination_busy') return;
    throw error;
  }
  const { base, spare } = await findBaseCopies(server, destination);
  if (base?.outdated === null && spare === null) await createSpare(context, server, url);
}

/**
 * Makes the next spare from the base copy, while the destination is in use. A failure costs the next reset its speed
 * and nothing else, so it is a warning.
 */
export async function createSpare(context: EngineContext, server: PostgresSession, url: DatabaseUrl) {
  const destination = url.database ?? '';
  const names = auxiliaryNames(destination);
  const { base } = await findAuxiliaryDatabases(server, destination);
  if (!base) return null;
  const made = startStep(context.report, 'spare', `Create the spare ${names.spare}`);
  const to = names.shadow();
  try {
    await createClosedCopy(context, server, { url, destination, from: base.name, to });
    // Sessions that have read in the base copy are none of the spare.
    const { contents: _, evidence: __, reading: ___, sessions: ____, ...mark } = base.mark;
    const sessions = await readSessions(server, to);
    const own = { ...mark, tool: 'spare' as const, ...(sessions !== null && { sessions }) };
    await server.transaction([rename(to, names.spare), writeMark(names.spare, own)]);
    made(`Created the spare ${names.spare}`);
    return names.spare;
  } catch (error) {
    await dropAfterFailure(context, { url, names: [to] });
    const reason = context.signal.aborted ? 'interrupted' : redact(error instanceof Error ? error.message : `${error}`);
    const message = `The spare ${names.spare} was not created: ${reason}`;
    context.report({ event: 'warning', code: 'spare_not_created', message });
    return null;
  }
}
