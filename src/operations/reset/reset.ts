import type { BaseCopy } from '../../engines/facets/copies.ts';
import type { Resettable } from '../../engines/facets/restore.ts';
import type { ResetPlan, ResetResult } from '../../results/load-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { formatBytes } from '../../text/format.ts';
import { otherTargetOf } from '../back/last-load.ts';
import { recorded } from '../history/recorded.ts';
import { toDatabaseCopy } from '../load/base-copies.ts';
import { keepsSpare, whyNoBase } from '../load/choose-base.ts';
import { checkDestination, chooseDestination, openDestination } from '../load/destination.ts';
import { assertNotASource } from '../load/guard/guard.ts';
import { swapSteps } from '../load/load-steps.ts';
import { type Planned, planOutdated } from '../planned.ts';
import { statingOutcome } from '../stating-outcome.ts';
import { findTarget } from '../targets/find-target.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';

export interface ResetRequest {
  target: string;
  /** Connection URL that wins over every configured destination. */
  destdb?: string;
  /** `false` keeps no undo copy. Default `true`. */
  undo?: boolean;
  /** Makes the next spare after the reset; default: `keep_spare` of the target or of `defaults`. */
  spare?: boolean;
}

export type PlannedReset = Planned<ResetRequest, ResetPlan>;

/** Plans a reset; changes nothing. Throws when there is no base copy of the present destination. */
export async function planReset(given: Context, request: ResetRequest): Promise<PlannedReset> {
  const context = await withTargetUrls(given, request.target, { source: false });
  const { url, restore } = openDestination(context, chooseDestination(context, request));
  const allowedBy: string[] = [];
  const unverified_sources = await assertNotASource(context, url, { ...request, allowedBy });
  const why = whyNoBase(allowedBy.at(-1));
  if (why) throw unsupported(request.target, why);
  const spare = keepsSpare(context.configuration, request);
  const found = await restore.planReset({ spare });
  const { target } = request;
  const other = await otherTargetOf(context, { target, url, snapshot: found.base.snapshot });
  if (other !== null) throw ofOtherTarget(target, { other, destination: url.display });
  const undo = request.undo ?? true;
  const base = toDatabaseCopy(found.base);
  const plan: ResetPlan = {
    target: request.target,
    destination: found.destination,
    base,
    from: found.from,
    undo,
    spare,
    needs_bytes: base.size_bytes === null ? null : base.size_bytes * found.copies,
    unverified_sources,
    steps: stepsOf(found, { undo, spare }),
    warnings: found.warnings.map(({ code, message }) => ({ code, message })),
  };
  return { request, plan, planned_at: context.clock().toISOString() };
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
      work: () => statingOutcome(given, { target, destination, undo }, (context) => perform(context, planned)),
      facts: ({ swap_ms, size_bytes }) => ({ swap_ms, size_bytes }),
    },
  );
}

async function perform(given: Context, planned: PlannedReset): Promise<ResetResult> {
  const { request, plan } = planned;
  const context = await withTargetUrls(given, request.target, { source: false });
  const { url, restore } = openDestination(context, chooseDestination({ ...context, report: () => {} }, request));
  await checkDestination(context, planned, url);
  const accept = ({ snapshot, loadedAt }: BaseCopy): void => {
    if (snapshot === plan.base.snapshot && loadedAt === plan.base.loaded_at) return;
    throw planOutdated(`Another load has replaced the base copy of ${url.display}`);
  };
  const { role } = findTarget(context.configuration, request.target).snapshot ?? {};
  const { swapMs, undoDatabase, spareDatabase } = await restore.reset({
    ...{ role, accept, undo: plan.undo, spare: plan.spare },
  });
  return {
    target: request.target,
    destination: url.display,
    snapshot: plan.base.snapshot,
    loaded_at: plan.base.loaded_at,
    from: plan.from,
    size_bytes: plan.base.size_bytes,
    swap_ms: swapMs,
    undo_database: undoDatabase,
    spare_database: spareDatabase ?? null,
  };
}

function ofOtherTarget(target: string, { other, destination }: { other: string; destination: string }): UserError {
  return new UserError('base_copy_outdated', `The base copy of ${destination} is of target "${other}", loaded last`, {
    hint: `Load the snapshot of "${target}" again: tool load ${target}`,
  });
}

function unsupported(target: string, why: string): UserError {
  return new UserError('base_copies_unsupported', `The destination of "${target}" cannot be reset: ${why}`, {
    hint: `Load the snapshot again: tool load ${target}`,
  });
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
