import { availableParallelism, totalmem } from 'node:os';
import { tablesText } from '../../divide-tables.ts';
import type { EngineContext, Replaced, RestoreRun } from '../../engine.ts';
import { connectToServer } from '../connection/connect.ts';
import type { Session } from '../connection/session.ts';
import { type Settings, withDatabase } from '../connection/url.ts';
import { archiveDetails } from '../dump/archive.ts';
import { besideNames, createDatabase, dropDatabase, lockDestination, sweepLeftovers } from '../server.ts';
import { findClientTools, majorOf, toolsForArchive } from '../tools.ts';
import { checkRestored } from './check.ts';
import { fillDatabase } from './fill.ts';
import { restoreInPlace } from './in-place.ts';
import { inheritSettings, swapDatabases } from './swap.ts';

/**
 * Restores a snapshot so that the destination is the old one or the new one, whole, whatever happens: into a new
 * database beside it, which is checked and then takes its name.
 */
export async function restore(context: EngineContext, run: RestoreRun): Promise<Replaced> {
  if (run.plan.strategy === 'in_place') return restoreInPlace(context, run);
  const { report } = context;
  const { manifest, plan, url, jobs } = run;
  const details = archiveDetails(manifest);
  const tools = toolsForArchive(await findClientTools(context), manifest.tool_version);

  return besideDestination(context, { ...run, locale: details.locale }, async ({ fresh, server }) => {
    const beside = withDatabase(url, fresh);
    const settings = restoreSettings(plan.destination.local, jobs);
    await fillDatabase(context, { ...run, url: beside, tools, details, settings });
    report({ event: 'step', step: 'check', state: 'started', label: 'Check against the manifest' });
    await checkRestored(context, { url: beside, tools, details, plan, jobs });
    report({
      event: 'step',
      step: 'check',
      state: 'done',
      label: `Checked ${tablesText(plan)}; row by row counted`,
    });
    await run.beforeSwap?.(beside);
    await inheritSettings(server, {
      from: plan.destination.exists ? (url.database ?? '') : null,
      to: fresh,
      settings: details.settings,
    });
  });
}

export interface Beside {
  url: RestoreRun['url'];
  undo: boolean;
  locale: Parameters<typeof createDatabase>[1]['locale'];
  /** Drops what was made, instead of swapping it in. */
  throwAway?: boolean | undefined;
}

/** Makes a database beside the destination, has it filled, and swaps the two; leaves nothing when that fails. */
export async function besideDestination(
  context: EngineContext,
  { url, undo, locale, throwAway }: Beside,
  fill: (made: { fresh: string; server: Session }) => Promise<void>,
): Promise<Replaced> {
  const { report } = context;
  const destination = url.database ?? '';
  await using server = await connectToServer(context, url, { settings: { statement_timeout: '0' } });
  report({ event: 'step', step: 'prepare', state: 'started', label: `Make a database beside ${url.display}` });
  await lockDestination(server, destination);
  const swept = await sweepLeftovers(server, destination);
  if (swept.length > 0) {
    const message = `Removed what a load that was killed had left: ${swept.join(', ')}`;
    report({ event: 'warning', code: 'leftovers_swept', message });
  }
  const [version] = await server.query<{ major: string }>(`SELECT current_setting('server_version') AS major`);
  const fresh = besideNames(destination).fresh();
  try {
    const sameLocale = await createDatabase(server, { name: fresh, locale, major: majorOf(version?.major ?? '') });
    if (!sameLocale && locale) {
      const message = `The server does not know the source's locale "${locale.icu_locale ?? locale.collate}": its own is used, and text may sort otherwise`;
      report({ event: 'warning', code: 'locale_unknown', message });
    }
    report({ event: 'step', step: 'prepare', state: 'done', label: `Made ${fresh}` });
    await fill({ fresh, server });
    context.signal.throwIfAborted();
    if (throwAway) {
      await dropDatabase(server, fresh);
      return { swapMs: null, undoDatabase: null };
    }
    return await swapDatabases(context, { server, url, fresh, undo });
  } catch (error) {
    await dropAfterFailure(context, { url, fresh });
    throw error;
  }
}

/** With a session of its own: the run's sessions may be gone with what made it fail. */
async function dropAfterFailure(
  context: EngineContext,
  { url, fresh }: { url: Beside['url']; fresh: string },
): Promise<void> {
  const clean: EngineContext = { ...context, signal: AbortSignal.timeout(CLEAN_UP_TIMEOUT) };
  try {
    await using server = await connectToServer(clean, url);
    // The server may still be making the database for the session that was ended, which holds the lock until it is done.
    if (context.signal.aborted) await lockDestination(server, url.database ?? '', { timeout: LOCK_PATIENCE });
    await dropDatabase(server, fresh);
  } catch {
    const message = `Could not remove ${fresh} now; the next load into ${url.display} does`;
    context.report({ event: 'warning', code: 'leftover', message });
  }
}

const CLEAN_UP_TIMEOUT = 20_000;
const LOCK_PATIENCE = '15s';
const MEGABYTE = 1024 * 1024;

/**
 * Settings for the sessions that fill a database which nobody uses yet: memory for building indexes, and commits that
 * do not wait for the disk (the swap's own commit does, and with it all before it).
 */
export function restoreSettings(local: boolean, jobs: number): Settings {
  const share = local ? totalmem() / MEGABYTE / 4 / jobs : 256;
  return {
    maintenance_work_mem: `${Math.round(Math.min(1024, Math.max(64, share)))}MB`,
    // Foreign keys are checked by a join, which should not spill.
    work_mem: `${Math.round(Math.min(256, Math.max(16, share / 2)))}MB`,
    synchronous_commit: 'off',
    // Workers beyond the cores only get in each other's way; how many a server elsewhere has is its own affair.
    ...(local
      ? { max_parallel_maintenance_workers: `${Math.max(0, Math.floor(availableParallelism() / jobs) - 1)}` }
      : {}),
    jit: 'off',
    statement_timeout: '0',
    lock_timeout: '0',
    idle_in_transaction_session_timeout: '0',
  };
}
