import { UserError, withOutcome } from '../../../../runtime/errors.ts';
import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { ReplaceResult, RestoreRun } from '../../../facets/restore.ts';
import { restoreProgress } from '../../../shared/bytes-progress.ts';
import { connectionLost } from '../../../shared/connection/explain-errors.ts';
import { restoreFailed } from '../../../shared/restore-failed.ts';
import { tablesText } from '../../../shared/rows/divide-tables.ts';
import { connectToServer } from '../../connection/connect.ts';
import { quoteNumber } from '../../connection/quote.ts';
import { PLAIN_MEANING } from '../../connection/session.ts';
import { ConnectionLost } from '../../connection/session-errors.ts';
import { type ClientTools, findClientTools, knowsRestrict, toolsForArchive } from '../../connection/tools.ts';
import { connectionEnvironment } from '../../connection/url.ts';
import { archiveDetails } from '../../dump/archive.ts';
import { profile } from '../../profile.ts';
import { ALL, analyze } from '../../statistics/gather.ts';
import { statisticsToTakeOver } from '../../statistics/take-over.ts';
import { COPY_FLAGS } from '../rows/copy-commands.ts';
import { assertFed, checkTags, type FeedOutcome, feedTables, textOf } from '../rows/feed-tables.ts';
import { materialize } from '../rows/fill.ts';
import { type Transaction, writeTransaction } from './write-transaction.ts';

/**
 * Restores into the destination itself, in one transaction of one session: until its commit everybody else sees the
 * old database, and nothing of it is there after a failure.
 */
export async function restoreInPlace(context: EngineContext, run: RestoreRun): Promise<ReplaceResult> {
  const { report } = context;
  const { url, plan, manifest } = run;
  const details = archiveDetails(manifest);
  const tools = toolsForArchive(restricting(await findClientTools(context)), manifest.tool_version);
  const prepared = startStep(report, 'prepare', `Prepare one transaction in ${url.display}`);
  const archive = await materialize(context, { ...run, tools, details });
  const stored = await statisticsToTakeOver(run);
  const transaction = await writeTransaction(context, { run, tools, details, archive });
  prepared('Prepared');

  const amount = formatNumberOf(plan.tables.length, 'table');
  const restored = startStep(report, 'restore', `Restore ${amount} in one transaction`);
  await runTransaction(context, { run, tools, details, transaction });
  restored(`Restored and verified ${tablesText(plan)}`);
  await analyze(context, { url, sessions: run.cpus, settings: { statement_timeout: '0' }, stored }, ALL).catch(
    (error) => {
      throw withOutcome(error, replacedInPlace(url));
    },
  );
  return { swapMs: null, undoDatabase: null };
}

const FAILED = 'The restore in one transaction failed';

interface TransactionRun extends Pick<FeedOutcome, 'details'> {
  run: RestoreRun;
  tools: ClientTools;
  transaction: Transaction;
}

/** Runs the transaction in one psql, and verifies that it was committed. */
async function runTransaction(
  context: EngineContext,
  { run: { url, directory, read }, tools, details, transaction }: TransactionRun,
): Promise<void> {
  const { report, runner, signal } = context;
  const { scripts, commands, tables, word, carryOver } = transaction;
  const loaded = tables.map(({ table }) => table);
  const onBytes = restoreProgress(report, loaded, profile.rows.endBytes);
  const { args, env, mounts } = connectionEnvironment(url, {
    statement_timeout: '0',
    lock_timeout: '0',
    client_min_messages: 'warning',
    ...PLAIN_MEANING,
  });
  const child = runner.start(
    {
      file: tools.psql,
      args: [...COPY_FLAGS, ...scripts, ...args],
      env,
      mounts: [...mounts, { path: directory, writable: true }],
    },
    { signal },
  );
  const said = textOf(child.stdout);
  const feeding = feedTables({ read, batch: tables, child, commands, onBytes });
  const [fed, ended] = await Promise.allSettled([feeding, child.ended]);
  try {
    signal.throwIfAborted();
    assertFed({ fed, ended, details, what: FAILED });
    const [, copied, , end] = said().split(`${word}\n`);
    if (copied === undefined || end === undefined) {
      throw restoreFailed(FAILED, ['psql ended without an answer to COMMIT']);
    }
    checkTags(copied, tables);
  } catch (error) {
    const [, transaction] = new RegExp(`^${word} (\\d+)$`, 'm').exec(said()) ?? [];
    throw await withInPlaceOutcome(context, url, { error, transaction });
  }
  if (ended.status === 'fulfilled') carryOver.warn(ended.value.stderr);
}

/**
 * The scripts that pg_restore writes hold definitions from the snapshot. A psql that does not know `\restrict` would run
 * a line `\! command` in one.
 */
function restricting(tools: ClientTools[]): ClientTools[] {
  const able = tools.filter(knowsRestrict);
  if (able.length > 0 || tools.length === 0) return able;
  throw new UserError(
    'tools_too_old',
    `A load in place needs a psql that knows \\restrict; the newest here is ${tools[0]?.version}`,
    { hint: 'Update the PostgreSQL client programs to 13.22, 14.19, 15.14, 16.10, 17.6, 18 or newer.' },
  );
}

interface Failure {
  error: unknown;
  /** Its id, where it was about to be committed. */
  transaction: string | undefined;
}

/** Returns the error with what the transaction has left: its end may fail after COMMIT. */
async function withInPlaceOutcome(context: EngineContext, url: DatabaseUrl, { error, transaction }: Failure) {
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

function replacedInPlace({ database }: DatabaseUrl): string {
  return `${database} is the new database. A load in place keeps no previous one.`;
}

const TIMEOUT_MS = 20_000;
