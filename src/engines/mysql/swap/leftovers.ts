import { redact } from '../../../process/redact.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { reportSwept, switchedIncompletely } from '../../shared/swap-incomplete.ts';
import { connectToServer } from '../connection/connect.ts';
import { ConnectionLost, SqlError } from '../connection/session-errors.ts';
import { databaseExists, dropEmpty, lockDestination, readAuxiliaryNames } from '../server/server.ts';
import { type SettleResult, settle, type Work } from './journal.ts';
import type { SettleContext } from './settle-code.ts';
import { dropAuxiliaryDatabase, listShadowDatabases, sweepBaseCopies } from './shadow-databases.ts';

interface SettleAllResult extends SettleResult {
  /** The names of what is gone. */
  dropped: string[];
}

/** Settles every swap into the destination and drops what was made for it. */
async function settleAll(context: SettleContext, { server, url }: Omit<Work, 'work'>): Promise<SettleAllResult> {
  const destination = url.database ?? '';
  const { leftovers } = await listShadowDatabases(server, destination);
  const all: SettleAllResult = { tables: null, missing: [], dropped: [] };
  // Tables of one may be named by the journal in another.
  for (const work of leftovers) {
    const { tables, missing } = await settle(context, { server, url, work }).catch((error) => {
      context.signal?.throwIfAborted();
      if (error instanceof ConnectionLost || !(error instanceof Error)) throw error;
      if (!(error instanceof UserError && error.code === 'content_refused')) throw unfinished(url, error);
      return notFollowed(context, { url, work, error });
    });
    all.tables ??= tables;
    all.missing.push(...missing);
  }
  for (const work of leftovers) {
    if (await dropAuxiliaryDatabase(context, server, { name: work, destination })) all.dropped.push(work);
  }
  all.dropped.push(...(await sweepBaseCopies(context, server, destination)));
  // Made for tables that did not move.
  const { undo } = await readAuxiliaryNames(server, destination);
  if (await databaseExists(server, undo)) await dropEmpty(server, undo);
  return all;
}

/** The tool writes a journal after its code was checked: somebody else wrote this one. */
function notFollowed({ report }: SettleContext, { url, work, error }: Omit<Work, 'server'> & { error: Error }) {
  const message = `Could not remove leftovers of an interrupted load into ${url.display}: ${work}: ${redact(error.message)}`;
  report({ event: 'warning', code: 'leftover', message });
  return { tables: null, missing: [] };
}

/**
 * Ends what killed loads into the destination have begun, and removes what they have left; only while holding its lock.
 * Rejects when a swap cannot be ended: another one would lose what it has replaced. What cannot be removed is a warning.
 */
export async function sweepLeftovers(context: EngineContext, place: Omit<Work, 'work'>): Promise<void> {
  const { report, signal } = context;
  const { dropped, missing } = await settleAll(context, place).catch((error): SettleAllResult => {
    signal.throwIfAborted();
    if (!(error instanceof SqlError)) throw error;
    const message = `Could not remove leftovers of an interrupted load into ${place.url.display}: ${redact(error.message)}`;
    report({ event: 'warning', code: 'leftover', message });
    return { tables: null, missing: [], dropped: [] };
  });
  for (const what of missing) {
    report({ event: 'warning', code: 'not_carried_over', message: `An interrupted load did not create ${what}` });
  }
  reportSwept(report, dropped);
}

function unfinished({ display }: DatabaseUrl, cause: Error): UserError {
  return new UserError('swap_unfinished', `The interrupted swap of ${display} cannot be completed`, {
    details: [redact(cause.message)],
    hint: 'Nothing was lost: the replaced tables are in a database of the tool. Remove the cause, then run the command again.',
    cause,
  });
}

/**
 * Settles the swap of a failed run, in a session of its own, since those of the run may be in any state. Returns the
 * error that describes the outcome.
 */
export async function settleAfterFailure({ report }: EngineContext, url: DatabaseUrl, error: unknown) {
  const signal = AbortSignal.timeout(CLEAN_UP_TIMEOUT);
  try {
    await using server = await connectToServer({ signal }, url);
    await lockDestination(server, url.database ?? '');
    const { tables, missing } = await settleAll({ signal, report }, { server, url });
    return tables === 'new' ? switchedIncompletely(url.database ?? '', { missing, cause: error }) : error;
  } catch {
    const message = `Could not clean up after the load into ${url.display}; the next one completes or reverts its swap`;
    report({ event: 'warning', code: 'leftover', message });
    return error;
  }
}

const CLEAN_UP_TIMEOUT = 20_000;
