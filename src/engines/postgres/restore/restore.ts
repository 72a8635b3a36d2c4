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
import { loadThroughShadow, restoreSettings } from './shadow-load.ts';

/**
 * Restores a snapshot so that the destination is the old one or the new one, whole, whatever happens: into a new
 * database beside it, which is checked and then takes its name.
 */
export async function restore(context: EngineContext, run: RestoreRun): Promise<ReplaceResult> {
  if (run.plan.strategy === 'rows') return restoreOnlyRows(context, run);
  if (run.plan.strategy === 'in_place') return restoreInPlace(context, run);
  const { report } = context;
  const { manifest, plan, url, cpus } = run;
  const details = archiveDetails(manifest);
  const tools = toolsForArchive(await findClientTools(context), manifest.tool_version);

  const errors: string[] | undefined = run.keepGoing ? [] : undefined;
  let missing: MissingParts | null = null;
  let described: DescribedBase = {};
  const keepBase = run.onlyBase ? { spare: false } : run.keepBase;
  const base = keepBase && {
    ...keepBase,
    facts: () => ({
      snapshot: manifest.id,
      partial: missing !== null || plan.empty.length > 0,
      ...described,
    }),
  };
  const fromCopy = plan.difference?.tables ? plan.difference : undefined;
  // A copy of the base copy has the large objects.
  const definitions = { ...manifest, files: manifest.files.filter(({ name }) => name === CONTENTS) };
  const laidOut = { ...run, manifest: fromCopy ? definitions : manifest };
  const premade = fromCopy ? [] : premadeSchemas(plan.restoredBy, details.extensions);
  // While the database is created.
  const archive = materialize(context, { ...laidOut, tools, details, premade });
  archive.catch(() => {});
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  const compared = fromCopy && compareWithBase({ signal }, { ...run, planned: fromCopy, tables: plan.tables, details });
  compared?.catch(() => {});
  await using _laidOut = {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await Promise.allSettled([archive, compared]);
    },
  };
  const loaded: Pick<ReplaceResult, 'ways'> = {};
  const isExact = plan.empty.length === 0 && !run.afterLoad && !run.beforeSwap && !run.branch;
  const shadowLoad = {
    ...{
      ...run,
      base,
      rowsOf: () => (isExact && !missing ? manifest : null),
      afterLoad: run.afterLoad && withStatistics(context, run.afterLoad, manifest),
      locale: details.locale,
      settings: details.settings,
      fromCopy,
      comment: restoredBranchComment(context, run),
      discards: run.branch !== undefined,
      creates: run.branch?.creation && { branchOf: run.branch.of, inheritsFrom: run.branch.creation.inheritsFrom },
    },
    ...{ restoredBy: plan.restoredBy, extensions: details.extensions },
  };
  const replaced = await loadThroughShadow(context, shadowLoad, async ({ shadow, owner: own, url: filled, settle }) => {
    const settings = { ...restoreSettings(plan.destination.local, cpus), ...encodingSettings(details.locale) };
    const fill = { ...run, archive, url: filled, owner: own, tools, details, settings, premade, errors };
    const filling: Promise<FillResult & { ways?: TableWay[] }> =
      fromCopy && compared
        ? fillDifference(context, fill, { planned: fromCopy, compared })
        : fillDatabase(context, fill);
    const result = await filling.catch((error) => Promise.reject(withHints(error, run)));
    const { forced, leftOut } = result;
    if (result.ways) loaded.ways = result.ways;
    const checked = startStep(report, 'check', 'Verify against the manifest');
    const check = { url: filled, tools, details, plan, cpus, leftOut };
    if (errors) missing = missingParts(await findDifferences(context, check), errors);
    else await checkRestored(context, check);
    checked(`Verified ${tablesText(plan)}: row counts match`);
    if (forced.length > 0) {
      await using session = await connect(context, own, { tools, settings });
      await forceRowSecurity(session, forced);
    }
    const complete = !missing && plan.empty.length === 0;
    if (base) described = await describeBase(context, fill, { complete, deleted: deletedRows(fromCopy, loaded.ways) });
    if (!missing && run.beforeSwap) {
      await run.beforeSwap(filled);
      if (!run.throwAway) await analyze(context, { ...fill, sessions: cpus }, ALL);
    }
    if (missing && run.keepGoing !== 'swap') {
      if (settle) await settleNow(context, own, settle);
      throw restoreIncomplete(missing, { shadow, destination: url.database ?? '' });
    }
    if (missing) report({ event: 'warning', code: 'restore_incomplete', message: incompleteMessage(missing) });
  });
  return missing ? { ...replaced, ...loaded, missing } : { ...replaced, ...loaded };
}

/** Steps may have changed any table. */
function withStatistics(context: EngineContext, run: AfterLoad, manifest: Manifest): ReplaceRequest['afterLoad'] {
  return async (server, url) => {
    const gathering = { url, sessions: 1, settings: { statement_timeout: '0' } };
    const counted = statisticsFileOf(manifest) ? await countChangedRows(context, gathering) : {};
    await run(url);
    await endLeftSessions(context.report, {
      find: () => server.query<LeftSession>(leftSessionsQuery(url.database ?? '')),
      end: (pid) => server.query(`SELECT pg_terminate_backend(${quoteNumber(pid)})`).catch(() => {}),
    });
    await analyzeChanged(context, { ...gathering, counted });
  };
}

function leftSessionsQuery(database: string): string {
  return `SELECT pid AS id, concat_ws(' ', usename, state, left(query, 200)) AS text, coalesce(state, 'idle') <> 'idle' AS busy
    FROM pg_stat_activity WHERE datname = ${quoteText(database)} AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;
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
