import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import type { LoadPlan, LoadResult } from '../../../results/load-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { sourceOf } from '../../sanitize/source-of.ts';
import { localRepository } from '../../snapshots/local-repository.ts';
import type { ChosenDestination } from '../configured-destination.ts';
import { checkDestination, chooseDestination, openDestination } from '../destination.ts';
import { assertDestinationUnprotected, findBranchAt } from '../guard/branch-at.ts';
import { assertNotASource } from '../guard/guard.ts';
import { swapSteps } from '../load-steps.ts';
import type { LoadRequest, PlannedLoad } from '../planned-load.ts';

/** A load of an SQL file: into a new database, or on one as it is. */
export async function planScript(context: Context, request: LoadRequest & { file: string }): Promise<PlannedLoad> {
  const { file } = request;
  await assertReadable(file);
  const { chosenBy, ...chosen } = chosenFor(context, request);
  const database = openDestination(context, chosen);
  const { url, connect, restore } = database;
  const unverified = request.source ? [] : await assertNotASource(context, url, request);
  const destination = await connect.inspect();
  const asItIs = (request.noDrop ?? false) || (request.source ?? false);
  if (!asItIs) assertDestinationUnprotected(await findBranchAt(context, { database, destdb: request.destdb }));
  const { statements, rollsBack, warnings } = await restore.checkScript(file);
  const runs = `Run ${formatNumberOf(statements, 'statement')} of ${file}`;
  const undo = !asItIs && (request.undo ?? true) && destination.exists;
  const where = destination.url;
  const plan: LoadPlan = {
    target: request.target,
    snapshot: null,
    file,
    sanitized: null,
    sanitized_reason: 'it is what the SQL file makes of it',
    destination,
    chosen_by: chosenBy,
    strategy: asItIs ? 'script' : 'swap',
    strategy_reason: asItIs
      ? `the file runs on the ${request.source ? 'source' : 'destination'} as it is (${request.source ? '--source' : '--no-drop'})`
      : 'the destination is unchanged until the file has run in a shadow database',
    undo,
    schemas: [],
    tables: 0,
    rows: 0,
    size_bytes: 0,
    selection: null,
    jobs: 1,
    unverified_sources: unverified,
    steps: asItIs
      ? [`${runs} on ${where}${rollsBack ? ' in one transaction' : ', where a failure undoes nothing'}`]
      : [`${runs} in a shadow database beside ${where}`, ...swapSteps({ exists: destination.exists, undo })],
    warnings,
  };
  return { request, plan, planned_at: context.clock().toISOString(), restore: null };
}

export async function applyScript(context: Context, planned: PlannedLoad): Promise<LoadResult> {
  const { request, plan } = planned;
  const { file, undo, strategy } = plan;
  if (file === null) throw new Error('the plan is of no file');
  const database = openDestination(context, chosenFor({ ...context, report: () => {} }, request));
  await checkDestination(context, planned, database.url);
  const role = context.configuration.settings.targets[request.target]?.snapshot?.role;
  await using staging = await localRepository(context).stage();
  const directory = await staging.folder('script');
  const { swapMs, undoDatabase, statements } = await database.restore.runScript({
    ...{ file, asItIs: strategy === 'script', undo, role, directory },
    events: request.events,
  });
  return {
    snapshot: null,
    destination: plan.destination.url,
    statements,
    tables: 0,
    rows: 0,
    size_bytes: 0,
    selection: null,
    swap_ms: swapMs,
    undo_database: undoDatabase,
  };
}

/** It is read several times, which a pipe does not allow. */
export async function assertReadable(file: string, kind: 'file' | 'file or folder' = 'file'): Promise<void> {
  const unreadable = (why: string, cause?: unknown): UserError =>
    new UserError('file_missing', `Cannot read ${file}: ${why}`, { hint: 'Is the path right?', cause });
  await access(file, constants.R_OK).catch((cause) => {
    throw unreadable(cause.code === 'ENOENT' ? 'no such file' : cause.code, cause);
  });
  const found = await stat(file);
  if (!found.isFile() && !(kind === 'file or folder' && found.isDirectory()))
    throw unreadable('it is not a regular file');
}

function chosenFor(context: Context, request: LoadRequest): ChosenDestination {
  const { source, target } = request;
  const chosenBy = `targets.${target}.snapshot.src_url (--source)`;
  return source ? { text: sourceOf(context, target), chosenBy } : chooseDestination(context, request);
}
