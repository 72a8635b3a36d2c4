import type { WithoutUrl } from '../../engines/engine-context.ts';
import type { RestoredBranch } from '../../engines/facets/copies.ts';
import type { RestorePlan, RestoreRequest, RestoreRun } from '../../engines/facets/restore.ts';
import type { Database } from '../../engines/open-database.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import { createObjectPool } from '../../repository/objects/object-pool.ts';
import type { LoadPlan, LoadResult } from '../../results/load-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { shell } from '../../text/shell-word.ts';
import { noBranches } from '../branch/open-branches.ts';
import { writeLoadedEvidence } from '../build/evidence.ts';
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
import { describeLoad } from './describe-load.ts';
import { checkDestination } from './destination.ts';
import { byTable, filesToRead } from './difference.ts';
import { earlierSnapshots } from './earlier-snapshots.ts';
import { assertAllowedData, findLoadable, findRequested } from './find-loadable.ts';
import { assertDestinationUnprotected, assertNoAgentReads, findBranchAt } from './guard/branch-at.ts';
import { assertNotASource } from './guard/guard.ts';
import { type LoadPlace, openLoadPlace } from './open-load-place.ts';
import type { LoadRequest, PlannedLoad } from './planned-load.ts';
import { baseWithin, chooseBase } from './selection/choose-base.ts';
import { chooseTables, namesOf } from './selection/choose-tables.ts';
import { assertReplaceableRows } from './selection/only-rows.ts';

export async function planSnapshot(context: Context, given: LoadRequest): Promise<PlannedLoad> {
  const request = given.save === undefined ? await withSanitizedDefault(context, given) : given;
  const found = await findLoadable(context, request);
  const { manifest } = found;
  const place = await openFor(context, request, manifest);
  const { database } = place;
  const allowedBy: string[] = [];
  const unverified = await assertNotASource(context, database.url, { ...request, allowedBy });
  const wanted = chooseBase(context, request, allowedBy.at(-1));
  const { target, tables: named, only: onlyRows } = request;
  const selected = named ? await chooseTables(context, { found, database, wanted: named, only: onlyRows }) : null;
  const only = selected && namesOf(selected);
  if (onlyRows && only) await assertReplaceableRows(context, { target, found, database, tables: only });
  const restoration = await restorationOf(context, request, { manifest, only, keepBase: wanted.keepBase });
  const restore = await planRestore(context, { request, place, restoration, keepUsedBase: wanted.keepUsed });
  const base = baseWithin(restore, request, wanted);
  const afterLoad = onlyRows ? undefined : plannedAfterLoad(context.configuration, request);
  if (afterLoad && restore.strategy === 'in_place') throw afterLoadInPlace(target, restore.strategyReason);
  await checkAfterLoad(context, request, database.url);
  const { builtHere } = restoration;
  const settled = { request, found, place, restore, selected, base, afterLoad, unverified, builtHere };
  const plan = await describeLoad(context, settled);
  return { request, plan, planned_at: context.clock().toISOString(), restore };
}

interface RestoreToPlan {
  request: LoadRequest;
  place: LoadPlace;
  restoration: WithoutUrl<RestoreRequest>;
  keepUsedBase: boolean;
}

/** Plans the restore, and refuses a destination that is protected or that an agent reads. */
async function planRestore(
  context: Context,
  { request: { target, onlyBase, destdb }, place: { database, branch }, restoration, keepUsedBase }: RestoreToPlan,
): Promise<RestorePlan> {
  await using planning = createObjectPool(1);
  const earlier = earlierSnapshots(context, { target, pool: planning });
  const replaced = branch || onlyBase ? Promise.resolve(null) : findBranchAt(context, { database, destdb });
  replaced.catch(() => {});
  const restore = await database.restore.plan({ ...restoration, earlier, keepUsedBase });
  if (branch && restore.strategy !== 'swap') throw noBranches(target, restore.strategyReason);
  const present = await replaced;
  assertDestinationUnprotected(present);
  const { manifest } = restoration;
  if (restore.strategy !== 'swap') await assertNoAgentReads(context, { target, branch: present, manifest });
  return restore;
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
    {
      hint: `Commands cannot run inside its transaction. Load without them: ${shell`tool load ${target} --no-after-load`}`,
    },
  );
}

function noKeepGoing(target: string, why: string): UserError {
  return new UserError('keep_going_refused', `--keep-going is for PostgreSQL: ${why}`, {
    hint: `Load the tables that can be restored: ${shell`tool load ${target} --tables NAMES`}`,
  });
}

function assertSameEngine({ engine, url }: Database, manifest: Manifest): void {
  if (engine.id === manifest.engine) return;
  throw new UserError('engine_differs', `A snapshot of ${manifest.engine} cannot be loaded into ${url.display}`, {
    hint: `Choose a ${manifest.engine} destination: dst_url in the configuration, or --destdb.`,
  });
}
