import type { LoadResult } from '../../results/load-results.ts';
import type { Context } from '../../runtime/context.ts';
import { estimateLoad } from '../history/load-estimate.ts';
import { methodOf } from '../history/load-method.ts';
import { recorded } from '../history/recorded.ts';
import { isCurrent } from '../planned.ts';
import { applyAutomaticSaves, type LosingOperation, withAutomaticSaves } from '../save/automatic-save.ts';
import { savedBranch } from '../save/save.ts';
import { assertShared } from '../sign-in/sharing.ts';
import { statingOutcome } from '../stating-outcome.ts';
import { withTargetUrls } from '../targets/with-target-urls.ts';
import { loadExpectedSteps } from './expected-steps.ts';
import { applySnapshot, planSnapshot } from './load-snapshot.ts';
import { openLoadPlace } from './open-load-place.ts';
import type { LoadRequest, PlannedLoad } from './planned-load.ts';
import { applyScript, planScript } from './script/load-script.ts';

/** Looks at snapshot and destination, changes nothing. Throws when a guard refuses or the pre-flight fails. */
export async function planLoad(given: Context, request: LoadRequest): Promise<PlannedLoad> {
  const context = await withUrls(given, request);
  await assertShared(context, request.target);
  const planned = await (request.file === undefined
    ? planSnapshot(context, request)
    : planScript(context, { ...request, file: request.file }));
  const estimate = estimateLoad(context, planned.plan);
  const plan = estimate ? { ...planned.plan, estimate } : planned.plan;
  const losing = await losingLoad(context, planned);
  return { ...planned, plan: losing ? await withAutomaticSaves(context, losing, plan) : plan };
}

/** The load as one that loses states of the destination; `null` of one that does not. */
async function losingLoad(context: Context, { request, plan }: PlannedLoad): Promise<LosingOperation | null> {
  const { target, destdb, owner, autosave = true, onlyBase, source } = request;
  const { destination, strategy, undo } = plan;
  // A return leads to the configured destination.
  if (!autosave || onlyBase || source || destdb !== undefined || !destination.exists) return null;
  const { database, branch } = await openLoadPlace(context, request, { warned: true });
  return {
    ...(branch && { branch: savedBranch(branch.facts, owner) }),
    ...{ target, database, sizeBytes: destination.size_bytes },
    before: context.agent ? 'agent' : plan.after_load ? 'after_load' : 'load',
    keeps: strategy === 'swap' && undo,
    dropsUndoCopy: branch === null && (strategy === 'swap' || (strategy === 'rows' && undo)),
  };
}

/** Does what was planned. Steps: `prepare`, `restore`, `index`, `check`, `swap`. */
export async function applyLoad(given: Context, planned: PlannedLoad): Promise<LoadResult> {
  const { request, plan } = planned;
  const { undo } = plan;
  const work = (timed: Context) =>
    statingOutcome(timed, { target: request.target, destination: plan.destination, undo }, (context) =>
      perform(context, planned),
    );
  // A base copy for branches replaces no destination.
  if (request.onlyBase) return work(given);
  const { target, snapshot, sanitized, file: from, size_bytes, destination, branch } = plan;
  const known = {
    target,
    snapshot: snapshot?.id ?? null,
    sanitized,
    from,
    to: destination.url,
    method: methodOf(plan),
    ...(branch !== undefined && { branches: [branch] }),
  };
  return recorded(
    given,
    plan.save === undefined ? { operation: 'load', ...known } : { operation: 'back', ...known, save: plan.save },
    {
      work,
      facts: ({ swap_ms, after_load }) => ({
        swap_ms,
        size_bytes: snapshot ? size_bytes : null,
        ...(after_load && { after_load: after_load.length }),
      }),
      steps: () => loadExpectedSteps(plan),
    },
  );
}

async function perform(given: Context, planned: PlannedLoad): Promise<LoadResult> {
  const context = await withUrls(given, planned.request);
  if (!isCurrent(context, planned)) await assertShared(context, planned.request.target);
  for (const { code, message } of planned.plan.warnings) context.report({ event: 'warning', code, message });
  const losing = await losingLoad(context, planned);
  const unchangedSince = losing ? await markWhereSaved(losing, planned.plan) : undefined;
  if (losing) await applyAutomaticSaves(context, losing);
  return planned.restore
    ? applySnapshot(context, { ...planned, restore: planned.restore }, { unchangedSince })
    : applyScript(context, planned);
}

/** Writes after the save, while the load runs, would be lost with the destination. */
async function markWhereSaved(
  { database, branch }: LosingOperation,
  { undo, strategy, destination, automatic_saves: saves = [] }: PlannedLoad['plan'],
): Promise<unknown> {
  const isSaved = saves.some(({ database, skipped }) => database === destination.database && !skipped);
  if (undo || branch || strategy !== 'swap' || !isSaved) return undefined;
  return database.restore.readChangeMark();
}

async function withUrls(context: Context, { target, destdb, source = false }: LoadRequest): Promise<Context> {
  return destdb !== undefined && !source ? context : withTargetUrls(context, target, { source });
}
