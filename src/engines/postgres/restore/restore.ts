import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { MissingParts } from '../../../results/load-results.ts';
import { UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ReplaceResult, RestoreRun, RestoringUser, TableWay } from '../../facets/restore.ts';
import { endLeftSessions, type LeftSession } from '../../shared/left-sessions.ts';
import { withRightsHint } from '../../shared/restore-failed.ts';
import { tablesText } from '../../shared/rows/divide-tables.ts';
import { restoredBranchComment } from '../branches/restored-branch.ts';
import { connect } from '../connection/connect.ts';
import { quoteNumber, quoteText } from '../connection/quote.ts';
import { findClientTools, toolsForArchive } from '../connection/tools.ts';
import { encodingSettings } from '../connection/url.ts';
import { type ArchiveDetails, archiveDetails } from '../dump/archive.ts';
import { CONTENTS } from '../dump/archive-contents.ts';
import { ALL, analyze, analyzeChanged, countChangedRows } from '../statistics/gather.ts';
import { statisticsFileOf } from '../statistics/stored-file.ts';
import type { Settle } from '../swap/inherit.ts';
import type { ReplaceRequest } from '../swap/replace.ts';
import { checkRestored, findDifferences } from './check.ts';
import { extensionSchemas } from './create-extensions.ts';
import { compareWithBase } from './difference/compare-tables.ts';
import { type DescribedBase, deletedRows, describeBase } from './difference/contents.ts';
import { fillDifference } from './difference/fill-difference.ts';
import { restoreInPlace } from './in-place/in-place.ts';
import { incompleteMessage, missingParts, restoreIncomplete } from './incomplete.ts';
import { restoreOnlyRows } from './only-rows/restore-only-rows.ts';
import { type FillResult, fillDatabase, materialize } from './rows/fill.ts';
import { forceRowSecurity } from './rows/forced-row-security.ts';
import { loadThroughShadow, restoreSettings, type Shadow } from './shadow-load.ts';

/**
 * Restores a snapshot so that the destination is the old one or the new one, whole, whatever happens: into a new
 * database beside it, which is checked and then takes its name.
 */
export async function restore(context: EngineContext, run: RestoreRun): Promise<ReplaceResult> {
  if (run.plan.strategy === 'rows') return restoreOnlyRows(context, run);
  if (run.plan.strategy === 'in_place') return restoreInPlace(context, run);
  await using sources = await openSources(context, run);
  const outcome: Outcome = { missing: null, described: {} };
  const replaced = await loadThroughShadow(context, shadowLoadOf(context, run, { sources, outcome }), (shadow) =>
    fillShadow(context, run, { shadow, sources, outcome }),
  );
  const { missing, ways } = outcome;
  return { ...replaced, ...(ways && { ways }), ...(missing && { missing }) };
}

/** Parts that failed, and facts of the content for a base copy. */
interface Outcome {
  missing: MissingParts | null;
  described: DescribedBase;
  ways?: TableWay[];
}

type Sources = Awaited<ReturnType<typeof openSources>>;

/** Reads the archive, and compares the tables of a base copy with it, while the database is created. */
async function openSources(context: EngineContext, run: RestoreRun) {
  const { manifest, plan } = run;
  const details = archiveDetails(manifest);
  const tools = toolsForArchive(await findClientTools(context), manifest.tool_version);
  const fromCopy = plan.difference?.tables ? plan.difference : undefined;
  // A copy of the base copy has the large objects.
  const definitions = { ...manifest, files: manifest.files.filter(({ name }) => name === CONTENTS) };
  const laidOut = { ...run, manifest: fromCopy ? definitions : manifest };
  const premade = fromCopy ? [] : premadeSchemas(plan.restoredBy, details.extensions);
  const archive = materialize(context, { ...laidOut, tools, details, premade });
  archive.catch(() => {});
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  const compared = fromCopy && compareWithBase({ signal }, { ...run, planned: fromCopy, tables: plan.tables, details });
  compared?.catch(() => {});
  return {
    ...{ details, tools, premade, archive },
    difference: fromCopy && compared && { planned: fromCopy, compared },
    async [Symbol.asyncDispose]() {
      ended.abort();
      await Promise.allSettled([archive, compared]);
    },
  };
}

interface ShadowOptions {
  sources: Sources;
  outcome: Outcome;
}

function shadowLoadOf(context: EngineContext, run: RestoreRun, { sources, outcome }: ShadowOptions) {
  const { manifest, plan } = run;
  const { details, difference } = sources;
  const keepBase = baseOf(run);
  const facts = () => ({
    snapshot: manifest.id,
    partial: outcome.missing !== null || plan.empty.length > 0,
    ...outcome.described,
  });
  const isExact = plan.empty.length === 0 && !run.afterLoad && !run.beforeSwap && !run.branch;
  return {
    ...run,
    base: keepBase && { ...keepBase, facts },
    rowsOf: () => (isExact && !outcome.missing ? manifest : null),
    afterLoad: run.afterLoad && withStatistics(context, run.afterLoad, manifest),
    locale: details.locale,
    settings: details.settings,
    fromCopy: difference?.planned,
    comment: restoredBranchComment(context, run),
    discards: run.branch !== undefined,
    creates: run.branch?.creation && { branchOf: run.branch.of, inheritsFrom: run.branch.creation.inheritsFrom },
    restoredBy: plan.restoredBy,
    extensions: details.extensions,
  };
}

function baseOf({ onlyBase, keepBase }: RestoreRun): RestoreRun['keepBase'] {
  return onlyBase ? { spare: false } : keepBase;
}

/** Restores the content into the new database, checks it, and notes what is to be known of it after the swap. */
async function fillShadow(
  context: EngineContext,
  run: RestoreRun,
  { shadow: { shadow, owner, url, settle }, sources, outcome }: ShadowOptions & { shadow: Shadow },
): Promise<void> {
  const { plan, cpus } = run;
  const { tools, details, difference } = sources;
  const errors: string[] | undefined = run.keepGoing ? [] : undefined;
  const settings = { ...restoreSettings(plan.destination.local, cpus), ...encodingSettings(details.locale) };
  const fill = { ...run, ...sources, url, owner, settings, errors };
  const filling: Promise<FillResult & { ways?: TableWay[] }> = difference
    ? fillDifference(context, fill, difference)
    : fillDatabase(context, fill);
  const { forced, leftOut, ways } = await filling.catch((error) => Promise.reject(withHints(error, run)));
  if (ways) outcome.ways = ways;
  const checked = startStep(context.report, 'check', 'Verify against the manifest');
  const check = { url, tools, details, plan, cpus, leftOut };
  if (errors) outcome.missing = missingParts(await findDifferences(context, check), errors);
  else await checkRestored(context, check);
  checked(`Verified ${tablesText(plan)}: row counts match`);
  if (forced.length > 0) {
    await using session = await connect(context, owner, { tools, settings });
    await forceRowSecurity(session, forced);
  }
  const { missing } = outcome;
  if (baseOf(run)) {
    const complete = !missing && plan.empty.length === 0;
    outcome.described = await describeBase(context, fill, {
      complete,
      deleted: deletedRows(difference?.planned, ways),
    });
  }
  if (!missing && run.beforeSwap) {
    await run.beforeSwap(url);
    if (!run.throwAway) await analyze(context, { ...fill, sessions: cpus }, ALL);
  }
  if (!missing) return;
  if (run.keepGoing !== 'swap') {
    if (settle) await settleNow(context, owner, settle);
    throw restoreIncomplete(missing, { shadow, destination: run.url.database ?? '' });
  }
  context.report({ event: 'warning', code: 'restore_incomplete', message: incompleteMessage(missing) });
}

/** Steps may have changed any table. */
function withStatistics(context: EngineContext, run: AfterLoad, manifest: Manifest): ReplaceRequest['afterLoad'] {
  return async (server, url) => {
    const gathering = { url, sessions: 1, settings: { statement_timeout: '0' } };
    const counted = statisticsFileOf(manifest) ? await countChangedRows(context, gathering) : {};
    await run(url);
    await endLeftSessions(context.report, {
      find: () =>
        server.query<LeftSession>(`SELECT pid AS id, concat_ws(' ', usename, state, left(query, 200)) AS text, coalesce(state, 'idle') <> 'idle' AS busy
    FROM pg_stat_activity WHERE datname = ${quoteText(url.database ?? '')} AND pid <> pg_backend_pid() AND backend_type = 'client backend'`),
      end: (pid) => server.query(`SELECT pg_terminate_backend(${quoteNumber(pid)})`).catch(() => {}),
    });
    await analyzeChanged(context, { ...gathering, counted });
  };
}

type AfterLoad = NonNullable<RestoreRun['afterLoad']>;

/** Gives the objects of a database that remains for inspection back to their owner. */
async function settleNow(context: EngineContext, url: DatabaseUrl, settle: Settle): Promise<void> {
  await using session = await connect(context, url);
  await settle(session);
}

/** A load of the user's own can go on; what is made of one, such as a sanitized copy, must be complete. */
function withHints(error: unknown, { keepGoing, throwAway, plan }: RestoreRun): unknown {
  if (!(error instanceof UserError && error.code === 'restore_failed')) return error;
  const { code, exit, details } = error;
  const [whole, ...more] = (error.hint ?? '').split(/(?<=\.) /);
  const rest = keepGoing || throwAway ? [] : ['To restore the rest, load with --keep-going.'];
  const hint = [whole, ...rest, ...more].filter(Boolean).join(' ');
  return withRightsHint(new UserError(code, error.message, { exit, details, hint, cause: error }), plan.restoredBy);
}

/** Schemas of the extensions that a superuser creates before the temporary role restores all else. */
export function premadeSchemas(by: RestoringUser, extensions: ArchiveDetails['extensions']): string[] {
  return by.user === 'temporary' && by.superuser ? extensionSchemas(extensions) : [];
}
