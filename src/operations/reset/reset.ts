import type { BaseCopy } from '../../engines/facets/copies.ts';
import type { InPlaceChanges, Resettable } from '../../engines/facets/reset.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { ResetPlan, ResetResult } from '../../results/load-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { formatBytes, formatNumberOf } from '../../text/format.ts';
import { shell } from '../../text/shell-word.ts';
import { assertBaseOfTarget } from '../back/last-load.ts';
import { writeLoadedEvidence } from '../build/evidence.ts';
import { recorded } from '../history/recorded.ts';
import { toDatabaseCopy } from '../load/copies-result.ts';
import { checkDestination, chooseDestination, openDestination } from '../load/destination.ts';
import { assertDestinationUnprotected, findBranchAt } from '../load/guard/branch-at.ts';
import { assertNotASource } from '../load/guard/guard.ts';
import { swapSteps } from '../load/load-steps.ts';
import { keepsSpare, whyNoBase } from '../load/selection/choose-base.ts';
import { type Planned, planOutdated } from '../planned.ts';
import { applyAutomaticSaves, type LosingOperation, withAutomaticSaves } from '../save/automatic-save.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { statingOutcome } from '../stating-outcome.ts';
import { findTarget } from '../targets/find-target.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { resetExpectedSteps } from './expected-steps.ts';

export interface ResetRequest {
  target: string;
  /** Connection URL that wins over every configured destination. */
  destdb?: string;
  /** `false` keeps no undo copy. Default `true`. */
  undo?: boolean;
  /** `false` makes no automatic save before a reset in place: one that keeps an undo copy instead. */
  autosave?: boolean;
  /** Replaces the database even where a reset in place is possible. */
  copy?: boolean;
  /** Makes the next spare after the reset; default: `keep_spare` of the target or of `defaults`. */
  spare?: boolean;
}

export interface PlannedReset extends Planned<ResetRequest, ResetPlan> {
  /** The engine's own record for a reset in place. */
  seen?: unknown;
}

/** Plans a reset; changes nothing. Throws when there is no base copy of the present destination. */
export async function planReset(given: Context, request: ResetRequest): Promise<PlannedReset> {
  const context = await withTargetUrls(given, request.target, { source: false });
  const database = openDestination(context, chooseDestination(context, request));
  const { url, restore } = database;
  const allowedBy: string[] = [];
  const unverified_sources = await assertNotASource(context, url, { ...request, allowedBy });
  const why = whyNoBase(allowedBy.at(-1));
  if (why) throw unsupported(request.target, why);
  assertDestinationUnprotected(await findBranchAt(context, { database, destdb: request.destdb }));
  const spare = keepsSpare(context.configuration, request);
  const found = await restore.planReset({ spare });
  const { target } = request;
  await assertBaseOfTarget(context, { target, url, snapshot: found.base.snapshot });
  const undo = request.undo ?? true;
  const base = toDatabaseCopy(found.base);
  const common = { target: request.target, destination: found.destination, base, from: found.from, unverified_sources };
  const warnings = found.warnings.map(({ code, message }) => ({ code, message }));
  const inPlace = await chooseInPlace(context, { request, found, spare });
  const plan: ResetPlan =
    typeof inPlace === 'string'
      ? {
          ...{ ...common, way: 'copy', way_reason: inPlace, undo, spare, warnings },
          needs_bytes: base.size_bytes === null ? null : base.size_bytes * found.copies,
          steps: stepsOf(found, { undo, spare }),
        }
      : {
          ...{ ...common, way: 'in_place', way_reason: IN_PLACE, undo: false, spare: false, needs_bytes: 0 },
          ...inPlace,
          // None is ended.
          warnings: warnings.filter(({ code }) => code !== 'sessions_open'),
        };
  const seen = typeof found.inPlace === 'string' || plan.way === 'copy' ? {} : { seen: found.inPlace.seen };
  return { request, plan, planned_at: context.clock().toISOString(), ...seen };
}

/** Restores the destination to its state after its last load. Steps: `prepare`, `swap`, `spare`. */
export function applyReset(given: Context, planned: PlannedReset): Promise<ResetResult> {
  const { target, destination, base, undo, warnings } = planned.plan;
  // The swap looks for leftovers again, under its lock, and reports them.
  const others = warnings.filter(({ code }) => code !== 'leftover');
  for (const warning of others) given.report({ event: 'warning', ...warning });
  return recorded(
    given,
    { operation: 'reset', target, snapshot: base.snapshot, from: base.database, to: destination.url },
    {
      work: (timed) => statingOutcome(timed, { target, destination, undo }, (context) => perform(context, planned)),
      facts: ({ swap_ms, size_bytes }) => ({ swap_ms, size_bytes }),
      steps: () => resetExpectedSteps(planned.plan),
    },
  );
}

async function perform(given: Context, planned: PlannedReset): Promise<ResetResult> {
  const { request, plan } = planned;
  const context = await withTargetUrls(given, request.target, { source: false });
  const database = openDestination(context, chooseDestination({ ...context, report: () => {} }, request));
  const { url, restore } = database;
  await checkDestination(context, planned, url);
  const accept = ({ snapshot, loadedAt }: BaseCopy): void => {
    if (snapshot === plan.base.snapshot && loadedAt === plan.base.loaded_at) return;
    throw planOutdated(`Another load has replaced the base copy of ${url.display}`);
  };
  const common = {
    ...{ target: request.target, destination: url.display, snapshot: plan.base.snapshot },
    ...{ loaded_at: plan.base.loaded_at, from: plan.from, size_bytes: plan.base.size_bytes },
  };
  if (plan.way === 'in_place') {
    if (request.undo ?? true) await applyAutomaticSaves(context, losingReset(context, request, plan.destination));
    const changes = await restore.resetInPlace({ accept, seen: planned.seen });
    if (typeof changes !== 'string')
      return { ...common, way: 'in_place', changes, swap_ms: null, undo_database: null, spare_database: null };
    context.report({ event: 'warning', code: 'reset_by_copy', message: `Not reset in place: ${changes}` });
  }
  const { role } = findTarget(context.configuration, request.target).snapshot ?? {};
  const undo = request.undo ?? true;
  const manifest = await loadedManifest(context, { target: request.target, id: plan.base.snapshot });
  const reset = await restore.reset({ role, accept, undo, spare: plan.spare, ...(manifest && { manifest }) });
  const { swapMs, undoDatabase, spareDatabase, evidence } = reset;
  if (manifest && request.destdb === undefined) {
    const { target } = request;
    await writeLoadedEvidence(context, { target, database, snapshot: manifest.id, evidence });
  }
  return {
    ...{ ...common, way: 'copy', swap_ms: swapMs },
    undo_database: undoDatabase,
    spare_database: spareDatabase ?? null,
  };
}

/** The snapshot or save of the base copy, if it is on this machine. */
async function loadedManifest(
  context: Context,
  { target, id }: { target: string; id: string | null },
): Promise<Manifest | undefined> {
  if (id === null) return;
  const repository = localRepository({ ...context, report: () => {} });
  const isIt = (one: Manifest): boolean => one.id === id;
  return (await repository.list(target)).find(isIt) ?? (await repository.listSaves(target)).find(isIt);
}

function unsupported(target: string, why: string): UserError {
  return new UserError('base_copies_unsupported', `The destination of "${target}" cannot be reset: ${why}`, {
    hint: `Load the snapshot again: ${shell`tool load ${target}`}`,
  });
}

interface WayRequest {
  request: ResetRequest;
  found: Resettable;
  spare: boolean;
}

const IN_PLACE = 'definitions are the same, and few rows have changed';

/** The changes, saves and steps of a reset in place, or why the database is replaced. */
async function chooseInPlace(
  context: Context,
  { request, found, spare }: WayRequest,
): Promise<Pick<ResetPlan, 'changes' | 'steps' | 'automatic_saves'> | string> {
  const { inPlace, destination, base } = found;
  if (request.copy) return '--copy was given';
  if (found.from === 'spare') return 'the spare is ready';
  if (spare) return 'a spare is wanted';
  if (typeof inPlace === 'string') return inPlace;
  const changes = { tables: inPlace.tables, sequences: inPlace.sequences };
  const planned = { changes, steps: inPlaceSteps(inPlace, base.name) };
  if (request.undo === false) return planned;
  // The present state is kept in one way or the other.
  const losing = losingReset(context, request, destination);
  const saves = request.destdb === undefined && request.autosave !== false;
  const saved = saves ? await withAutomaticSaves(context, losing, planned) : planned;
  const { automatic_saves = [] } = saved as Pick<ResetPlan, 'automatic_saves'>;
  return automatic_saves.some(({ skipped }) => !skipped)
    ? { ...saved, automatic_saves }
    : 'the present state is kept as the undo copy';
}

function losingReset(
  context: Context,
  request: ResetRequest,
  { size_bytes }: ResetPlan['destination'],
): LosingOperation {
  const { target } = request;
  const database = openDestination(context, chooseDestination({ ...context, report: () => {} }, request));
  const before = context.agent ? 'agent' : 'load';
  return { target, database, sizeBytes: size_bytes, before, keeps: false, dropsUndoCopy: false };
}

function inPlaceSteps({ tables, sequences }: InPlaceChanges, base: string): string[] {
  const rows = (kind: 'delete' | 'insert'): string =>
    formatNumberOf(
      tables.reduce((sum, table) => sum + table[kind], 0),
      'row',
    );
  return [
    'Lock all tables against changes',
    `Compare rows with ${base}`,
    `In one transaction without triggers, delete at most ${rows('delete')} and insert at most ${rows('insert')} in ${formatNumberOf(tables.length, 'table')}`,
    ...(sequences > 0 ? [`Set ${formatNumberOf(sequences, 'sequence')}`] : []),
  ];
}

function stepsOf(
  { from, by, base, destination }: Resettable,
  { undo, spare }: { undo: boolean; spare: boolean },
): string[] {
  const size = base.sizeBytes === null ? '' : ` (${formatBytes(base.sizeBytes)})`;
  return [
    from === 'spare'
      ? 'Take the spare'
      : `Copy ${base.name}${size} ${by === 'files' ? 'by its files' : 'row by row, and build the indexes'}`,
    'Carry over owner, grants and settings of the destination',
    ...swapSteps({ exists: destination.exists, undo }),
    ...(spare ? [`Create the next spare${size}, while the destination is in use`] : []),
  ];
}
