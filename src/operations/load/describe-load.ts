import type { RestorePlan } from '../../engines/facets/restore.ts';
import type { Database } from '../../engines/open-database.ts';
import { contentBytes, type Manifest } from '../../repository/manifest/manifest.ts';
import { missingHere } from '../../repository/transfer.ts';
import { FOREIGN_SUPERUSER } from '../../results/configuration/foreign-code.ts';
import type { DatabaseCopy } from '../../results/database-copies.ts';
import type { LoadPlan } from '../../results/load-results.ts';
import { indexCountOf } from '../../results/manifest/index-count.ts';
import type { SnapshotRow } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { leftOutText, lostSchemas } from '../../text/format-objects.ts';
import { cpusFor } from '../cpus-for.ts';
import { compareMigrations } from '../migrations/working-tree.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { plannedAfterLoad } from './after-load.ts';
import { toDatabaseCopies } from './copies-result.ts';
import { dataState } from './data-state.ts';
import { filesToRead, loadDifference } from './difference.ts';
import type { findLoadable } from './find-loadable.ts';
import { loadSteps } from './load-steps.ts';
import type { LoadPlace } from './open-load-place.ts';
import type { LoadRequest } from './planned-load.ts';
import { restoredBy } from './restored-by.ts';
import { baseWarning, type baseWithin } from './selection/choose-base.ts';
import { type chooseTables, withinPlan } from './selection/choose-tables.ts';
import { onlyRowsWarnings, plannedOnlyRows } from './selection/only-rows.ts';

/** Everything that decides what a load does. */
interface SettledLoad {
  request: LoadRequest;
  found: Awaited<ReturnType<typeof findLoadable>>;
  place: LoadPlace;
  restore: RestorePlan;
  selected: Awaited<ReturnType<typeof chooseTables>> | null;
  base: ReturnType<typeof baseWithin>;
  afterLoad: LoadPlan['after_load'];
  unverified: LoadPlan['unverified_sources'];
  builtHere: boolean | undefined;
}

/** Describes a load that is settled, for its question and its result. */
export async function describeLoad(context: Context, settled: SettledLoad): Promise<LoadPlan> {
  const { request, found, place, restore, selected, afterLoad, unverified, builtHere } = settled;
  const { manifest, row, local, remote } = found;
  const { database, chosenBy, branch } = place;
  const { keepBase, why } = settled.base;
  const { target, keepGoing, original = false, only: onlyRows } = request;
  // A base copy may have the effect of other steps.
  const hasSteps = plannedAfterLoad(context.configuration, { target }) !== undefined;
  const selection = selected && withinPlan(selected, restore, manifest);
  const copies = restore.copies && toDatabaseCopies(restore.copies);
  const keeps = restore.strategy === 'swap' || restore.onlyRows?.keeps === true;
  const undo = !request.onlyBase && !branch && (request.undo ?? true) && keeps && restore.destination.exists;
  const rows = plannedOnlyRows(restore);
  const difference = loadDifference(restore, manifest);
  const isSave = request.save !== undefined;
  const data = dataState(context.configuration, { target, snapshot: row, original, isSave });
  const lacking = local ? [] : await missingHere(localRepository(context), filesToRead(restore, manifest));
  return {
    target,
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
      ...(builtHere || onlyRows ? [] : await foreignCode(database, manifest)),
      ...(await compareMigrations(context, manifest, { behind: !afterLoad })),
      ...(why === null ? [] : [baseWarning(why)]),
      ...onlyRowsWarnings(restore),
      ...restore.warnings.map(({ code, message }) => ({ code, message })),
    ],
  };
}

/** Warns of schemas with data that the build left out, and no setting excludes: the destination lacks them, too. */
function lostWarnings({ left_out_schemas: leftOut = [] }: SnapshotRow): LoadPlan['warnings'] {
  const lost = lostSchemas(leftOut);
  if (lost.length === 0) return [];
  const message = `The snapshot was built without the schemas ${leftOutText(lost)}, which then are not in the destination`;
  return [{ code: 'schemas_left_out', message }];
}

/** Reports whether the destination was last loaded with the whole snapshot, and can be reset to that. */
function isResetEnough(
  base: DatabaseCopy | null | undefined,
  { snapshot, restore, selection }: { snapshot: string; restore: RestorePlan; selection: LoadPlan['selection'] },
): boolean {
  if (!base || selection || restore.strategy !== 'swap') return false;
  return base.outdated === null && !base.partial && base.snapshot === snapshot;
}

/** A snapshot holds code of its own: functions, triggers, views. A superuser's rights let it do anything on the server. */
async function foreignCode({ connect, url }: Database, manifest: Manifest): Promise<LoadPlan['warnings']> {
  if (!(await connect.isSuperuser())) return [];
  const user = url.user === null ? 'a superuser' : `superuser "${url.user}"`;
  const message = `Snapshot ${manifest.id} was not built on this machine, and its code runs with the rights of ${user}`;
  return [{ code: FOREIGN_SUPERUSER, message }];
}
