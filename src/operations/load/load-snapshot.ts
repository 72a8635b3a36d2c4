import type { WithoutUrl } from '../../engines/engine-context.ts';
import type { RestoredBranch } from '../../engines/facets/copies.ts';
import type { RestorePlan, RestoreRequest, RestoreRun } from '../../engines/facets/restore.ts';
import type { Database } from '../../engines/open-database.ts';
import { contentBytes, type Manifest } from '../../repository/manifest/manifest.ts';
import { createObjectPool } from '../../repository/objects/object-pool.ts';
import { missingHere } from '../../repository/transfer.ts';
import { FOREIGN_SUPERUSER } from '../../results/configuration/foreign-code.ts';
import type { DatabaseCopy } from '../../results/database-copies.ts';
import type { LoadPlan, LoadResult } from '../../results/load-results.ts';
import { indexCountOf } from '../../results/manifest/index-count.ts';
import type { SnapshotRow } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { leftOutText, lostSchemas } from '../../text/format-objects.ts';
import { noBranches } from '../branch/open-branches.ts';
import { writeLoadedEvidence } from '../build/evidence.ts';
import { cpusFor } from '../cpus-for.ts';
import { compareMigrations } from '../migrations/working-tree.ts';
import { savesBefore } from '../save/automatic-save.ts';
import { addFingerprint } from '../save/fingerprints.ts';
import { WHOLE_DATABASE } from '../save/saves.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { withSanitizedDefault } from '../snapshots/sanitized-only.ts';
import { assertTrusted, isBuiltHere } from '../snapshots/signatures.ts';
import { snapshotReader } from '../snapshots/snapshot-reader.ts';
import { findPlanned } from '../snapshots/snapshots.ts';
import { pullFiles } from '../snapshots/transfer/pull.ts';
import { findTarget } from '../targets/find-target.ts';
import { afterLoadRunner, checkAfterLoad, plannedAfterLoad } from './after-load.ts';
import { toDatabaseCopies } from './copies-result.ts';
import { dataState } from './data-state.ts';
import { checkDestination } from './destination.ts';
import { byTable, filesToRead, loadDifference } from './difference.ts';
import { earlierSnapshots } from './earlier-snapshots.ts';
import { assertAllowedData, findLoadable, findRequested } from './find-loadable.ts';
import { assertDestinationUnprotected, assertNoAgentReads, findBranchAt } from './guard/branch-at.ts';
import { assertNotASource } from './guard/guard.ts';
import { loadSteps } from './load-steps.ts';
import { type LoadPlace, openLoadPlace } from './open-load-place.ts';
import type { LoadRequest, PlannedLoad } from './planned-load.ts';
import { restoredBy } from './restored-by.ts';
import { baseWarning, baseWithin, chooseBase } from './selection/choose-base.ts';
import { chooseTables, namesOf, withinPlan } from './selection/choose-tables.ts';
import { assertReplaceableRows, onlyRowsWarnings, plannedOnlyRows } from './selection/only-rows.ts';

export async function planSnapshot(context: Context, given: LoadRequest): Promise<PlannedLoad> {
  const isSave = given.save !== undefined;
  const request = isSave ? given : await withSanitizedDefault(context, given);
  const found = await findLoadable(context, request);
  const { manifest, row, local, remote } = found;
  const { database, chosenBy, branch } = await openFor(context, request, manifest);
  const allowedBy: string[] = [];
  const unverified = await assertNotASource(context, database.url, { ...request, allowedBy });
  const wanted = chooseBase(context, request, allowedBy.at(-1));
  const { tables: named, only: onlyRows } = request;
  const selected = named ? await chooseTables(context, { found, database, wanted: named, only: onlyRows }) : null;
  const only = selected && namesOf(selected);
  if (onlyRows && only) await assertReplaceableRows(context, { target: request.target, found, database, tables: only });
  const restoration = await restorationOf(context, request, { manifest, only, keepBase: wanted.keepBase });
  await using planning = createObjectPool(1);
  const earlier = earlierSnapshots(context, { target: request.target, pool: planning });
  const replaced =
    branch || request.onlyBase ? Promise.resolve(null) : findBranchAt(context, { database, destdb: request.destdb });
  replaced.catch(() => {});
  const restore = await database.restore.plan({ ...restoration, earlier, keepUsedBase: wanted.keepUsed });
  if (branch && restore.strategy !== 'swap') throw noBranches(request.target, restore.strategyReason);
  const present = await replaced;
  assertDestinationUnprotected(present);
  if (restore.strategy !== 'swap')
    await assertNoAgentReads(context, { target: request.target, branch: present, manifest });
  const { keepBase, why } = baseWithin(restore, request, wanted);
  const afterLoad = onlyRows ? undefined : plannedAfterLoad(context.configuration, request);
  // A base copy may have the effect of other steps.
  const hasSteps = plannedAfterLoad(context.configuration, { target: request.target }) !== undefined;
  if (afterLoad && restore.strategy === 'in_place') throw afterLoadInPlace(request.target, restore.strategyReason);
  await checkAfterLoad(context, request, database.url);
  const selection = selected && withinPlan(selected, restore, manifest);
  const copies = restore.copies && toDatabaseCopies(restore.copies);
  const keeps = restore.strategy === 'swap' || restore.onlyRows?.keeps === true;
  const undo = !request.onlyBase && !branch && (request.undo ?? true) && keeps && restore.destination.exists;
  const rows = plannedOnlyRows(restore);
  const difference = loadDifference(restore, manifest);
  const { keepGoing, original = false } = request;
  const data = dataState(context.configuration, { target: request.target, snapshot: row, original, isSave });
  const lacking = local ? [] : await missingHere(localRepository(context), filesToRead(restore, manifest));
  const plan: LoadPlan = {
    target: request.target,
    snapshot: row,
    ...(manifest.save !== undefined && { save: manifest.save }),
    ...(branch && { branch: branch.facts.name }),
    file: null,
    sanitized: data.sanitized,
    sanitized_reason: data.sanitized_reason,
    destination: restore.destination,
    chosen_by: chosenBy,
    strategy: restore.strategy,
    strategy_reason: restore.strategyReason,
    ...restoredBy(restore.restoredBy),
    undo,
    ...(keepBase && { keep_base: keepBase }),
    ...(copies && { copies }),
    ...(difference && { difference }),
    ...(!hasSteps && isResetEnough(copies?.base, { snapshot: row.id, restore, selection }) && { reset_instead: true }),
    ...(keepGoing && { keep_going: keepGoing }),
    ...(afterLoad && { after_load: afterLoad }),
    schemas: restore.schemas,
    tables: restore.tables.length,
    rows: restore.tables.reduce((sum, table) => sum + table.rows, 0),
    size_bytes: contentBytes(manifest, restore.tables),
    ...(restore.strategy === 'swap' && !selection && { indexes: indexCountOf(manifest) }),
    ...(lacking.length > 0 && { pull_bytes: lacking.reduce((sum, file) => sum + file.stored_bytes, 0) }),
    selection,
    ...(rows && { only_rows: rows }),
    jobs: request.cpus ?? cpusFor(context, request.target),
    unverified_sources: unverified,
    steps: loadSteps({ lacking, remote, restore, undo, keepGoing, keepBase, difference, afterLoad }),
    warnings: [
      ...data.warnings,
      ...(onlyRows || selection ? [] : lostWarnings(row)),
      ...(restoration.builtHere || onlyRows ? [] : await foreignCode(database, manifest)),
      ...(await compareMigrations(context, manifest, { behind: !afterLoad })),
      ...(why === null ? [] : [baseWarning(why)]),
      ...onlyRowsWarnings(restore),
      ...restore.warnings.map(({ code, message }) => ({ code, message })),
    ],
  };
  return { request, plan, planned_at: context.clock().toISOString(), restore };
}

/** Warns of schemas with data that the build left out, and no setting excludes: the destination lacks them, too. */
function lostWarnings({ left_out_schemas: leftOut = [] }: SnapshotRow): LoadPlan['warnings'] {
  const lost = lostSchemas(leftOut);
  if (lost.length === 0) return [];
  const message = `The snapshot was built without the schemas ${leftOutText(lost)}, which then are not in the destination`;
  return [{ code: 'schemas_left_out', message }];
}

/** Refuses a destination whose engine is another one, or cannot keep going. */
async function openFor(context: Context, request: LoadRequest, manifest: Manifest): Promise<LoadPlace> {
  const replaced = await openLoadPlace(context, request);
  const { database } = replaced;
  assertSameEngine(database, manifest);
  const { whyNotKeepGoing } = database.engine.capabilities;
  if (request.keepGoing && whyNotKeepGoing !== null) throw noKeepGoing(request.target, whyNotKeepGoing);
  return replaced;
}

export async function applySnapshot(
  context: Context,
  planned: PlannedLoad & { restore: RestorePlan },
  { unchangedSince }: Pick<RestoreRun, 'unchangedSince'>,
): Promise<LoadResult> {
  const { request, plan, restore } = planned;
  const { snapshot, jobs: cpus, undo, selection, tables, rows, size_bytes, keep_base: keepBase } = plan;
  if (snapshot === null) throw new Error('the plan is of no snapshot');
  // The plan has told what there is to warn of.
  const quiet = { ...context, report: () => {} };
  const found = request.save
    ? await findRequested(quiet, request)
    : await findPlanned(context, { target: request.target, snapshot });
  const { manifest, local, remote } = found;
  if (!request.save) assertTrusted(quiet, manifest, request);
  await assertAllowedData(quiet, request.target, manifest);
  const { database, branch } = await openLoadPlace(context, request, { warned: true });
  await checkDestination(context, planned, database.url);
  const only = selection && namesOf(selection);
  if (request.only && only) {
    await assertReplaceableRows(context, { target: request.target, found, database, tables: only });
  }
  const repository = localRepository(context);
  await using staging = await repository.stage();
  if (!local && remote) {
    const keep = restore.tables.length === manifest.tables.length && !restore.difference?.tables;
    await pullFiles(context, { manifest, remote, files: filesToRead(restore, manifest), keep });
  }
  await using pool = createObjectPool(cpus + 1, { expectedBytes: size_bytes });
  const directory = await staging.folder('restore');
  const afterLoad = afterLoadRunner(context, { choice: request, planned: plan.after_load, directory });
  const loaded = await database.restore.run({
    ...(await restorationOf(context, request, { manifest, only, keepBase })),
    plan: restore,
    cpus,
    undo,
    ...(unchangedSince !== undefined && { unchangedSince }),
    fingerprint: savesBefore(context, 'load') && !request.onlyBase && !branch,
    ...(request.onlyBase && { onlyBase: true }),
    ...(branch && { branch: branchRestored(branch, manifest) }),
    directory,
    ...(afterLoad && { afterLoad }),
    earlier: earlierSnapshots(context, { target: request.target, pool }),
    read: snapshotReader({ manifest, repository, pool, signal: context.signal }),
  });
  const { swapMs, undoDatabase, missing, ways, baseDatabase, spareDatabase, fingerprint, evidence } = loaded;
  if (fingerprint) {
    await addFingerprint(context, request.target, { snapshot: selection ? null : snapshot.id, fingerprint });
  }
  if (request.destdb === undefined) {
    await writeLoadedEvidence(context, { target: request.target, database, snapshot: snapshot.id, evidence });
  }
  return {
    snapshot,
    destination: plan.destination.url,
    tables,
    rows,
    size_bytes,
    selection,
    ...(plan.only_rows && { only_rows: plan.only_rows }),
    swap_ms: swapMs,
    undo_database: undoDatabase,
    ...(missing && { missing }),
    ...(plan.difference && { difference: { ...plan.difference, ...(ways?.length && { by_table: byTable(ways) }) } }),
    ...(plan.after_load && { after_load: plan.after_load }),
    ...(baseDatabase && { base_database: baseDatabase }),
    ...(spareDatabase && { spare_database: spareDatabase }),
  };
}

function branchRestored(
  { facts: { name, createdAt }, of, creation }: NonNullable<LoadPlace['branch']>,
  { branch }: Manifest,
): RestoredBranch {
  return { of, name, createdAt, snapshot: branch?.snapshot ?? null, creation };
}

/** Reports whether the destination was last loaded with the whole snapshot, and can be reset to that. */
function isResetEnough(
  base: DatabaseCopy | null | undefined,
  { snapshot, restore, selection }: { snapshot: string; restore: RestorePlan; selection: LoadPlan['selection'] },
): boolean {
  if (!base || selection || restore.strategy !== 'swap') return false;
  return base.outdated === null && !base.partial && base.snapshot === snapshot;
}

interface SnapshotRestoreRequest {
  manifest: Manifest;
  /** `null` for all tables. */
  only: Set<string> | null;
  keepBase: LoadPlan['keep_base'];
}

async function restorationOf(
  context: Context,
  {
    target,
    inPlace = false,
    full = false,
    only: onlyRows,
    rows: keys,
    keepGoing,
    remoteTables,
    events,
    allowSuperuser,
  }: LoadRequest,
  { manifest, only, keepBase }: SnapshotRestoreRequest,
): Promise<WithoutUrl<RestoreRequest>> {
  const { schema_config: schemaConfig, role } = findTarget(context.configuration, target).snapshot ?? {};
  const builtHere = await isBuiltHere(context, manifest);
  // Whole, as it was: schemas and events of its own included.
  const saved = manifest.save !== undefined && { schemaConfig: WHOLE_DATABASE, events: builtHere, keepsCopies: true };
  return {
    ...{ manifest, schemaConfig, role, inPlace, full, onlyRows, keepGoing, remoteTables, events },
    ...{ allowSuperuser, builtHere },
    ...(only && { only }),
    ...(keys && { keys }),
    ...(keepBase && { keepBase }),
    ...saved,
  };
}

function afterLoadInPlace(target: string, why: string): UserError {
  return new UserError(
    'in_place_impossible',
    `The steps of after_load need a shadow database: the load is in place, ${why}`,
    { hint: `Commands cannot run inside its transaction. Load without them: tool load ${target} --no-after-load` },
  );
}

function noKeepGoing(target: string, why: string): UserError {
  return new UserError('keep_going_refused', `--keep-going is for PostgreSQL: ${why}`, {
    hint: `Load the tables that can be restored: tool load ${target} --tables NAMES`,
  });
}

function assertSameEngine({ engine, url }: Database, manifest: Manifest): void {
  if (engine.id === manifest.engine) return;
  throw new UserError('engine_differs', `A snapshot of ${manifest.engine} cannot be loaded into ${url.display}`, {
    hint: `Choose a ${manifest.engine} destination: dst_url in the configuration, or --destdb.`,
  });
}

/** A snapshot holds code of its own: functions, triggers, views. A superuser's rights let it do anything on the server. */
async function foreignCode({ connect, url }: Database, manifest: Manifest): Promise<LoadPlan['warnings']> {
  if (!(await connect.isSuperuser())) return [];
  const user = url.user === null ? 'a superuser' : `superuser "${url.user}"`;
  const message = `Snapshot ${manifest.id} was not built on this machine, and its code runs with the rights of ${user}`;
  return [{ code: FOREIGN_SUPERUSER, message }];
}
