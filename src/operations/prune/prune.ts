import { type KeepPolicy, keptBy } from '../../repository/keep-policy.ts';
import type { PrunedTarget, PrunePlan, SnapshotLocation, SnapshotRow } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { withStep } from '../../runtime/events.ts';
import { boundedList } from '../../text/bounded-list.ts';
import { openCloud } from '../cloud/open-cloud.ts';
import { recorded } from '../history/recorded.ts';
import { type Planned, planOutdated } from '../planned.ts';
import { freedBytes, isPinned, removeFrom } from '../remove/remove.ts';
import { savesBeyondRules } from '../save/prune-saves.ts';
import { removeSave } from '../save/remove-save.ts';
import { listAllSaves } from '../save/saves.ts';
import { imagesDiskUse, serversDiskUse } from '../servers/disk-use.ts';
import { findStaleImages, sweepImages } from '../servers/sweep-images.ts';
import { trustedKeysOf } from '../snapshots/signatures.ts';
import { findSnapshots, listSnapshots } from '../snapshots/snapshots.ts';
import { findTarget } from '../targets/find-target.ts';
import { copiesOf } from '../targets/target-copies.ts';

export interface PruneRequest {
  /** Default: every target of the file but those that share. */
  target?: string;
  /** Without rules: the policy of the hub, for a cloud target that has one. */
  keep: KeepPolicy;
  from?: SnapshotLocation;
  /** Ids of snapshots of the target to remove, instead of what the rules do not keep. */
  remove?: string[];
}

export type PlannedPrune = Planned<PruneRequest, PrunePlan>;

/** Plans the removal of snapshots that the policy does not keep. Changes nothing. */
export async function planPrune(context: Context, request: PruneRequest): Promise<PlannedPrune> {
  const { target, keep, from, remove } = request;
  if (remove) return chosenRemoval(context, { ...request, remove });
  const isRuled = Object.values(keep).some((rule) => rule);
  if (!isRuled && target !== undefined && context.configuration.cloud?.has(target)) return planOfHub(context, request);
  if (!isRuled) throw keepsNothing();
  const { settings, cloud } = context.configuration;
  const own = Object.entries(settings.targets).filter(([name, { share }]) => !share && !cloud?.has(name));
  const names = target === undefined ? own.map(([name]) => name) : [target];
  const targets: PrunedTarget[] = [];
  // Databases are of no snapshot that is removed, but take space as well.
  const pendingCopies = copiesOf(context, names);
  pendingCopies.catch(() => {});
  for (const name of names) targets.push(await planTarget(context, { name, keep, from }));
  const copies = await pendingCopies;
  for (const planned of targets) {
    const found = copies.get(planned.target);
    if (found) planned.copies = found;
    const stale = (await findStaleImages(context)).filter(({ manifest }) => manifest.target === planned.target);
    planned.frees_bytes += await imagesDiskUse(context, ({ folder }) => stale.some((image) => image.folder === folder));
    const removed = planned.from.includes('local') ? planned.remove.map(({ id }) => id) : [];
    const without = [...removed, ...stale.map(({ manifest }) => manifest.snapshot)];
    const servers = await serversDiskUse(context, planned.target, { without });
    if (servers) planned.servers = servers;
  }
  return plannedOf(context, request, targets);
}

function plannedOf({ clock }: Context, request: PruneRequest, targets: PrunedTarget[]): PlannedPrune {
  const plan: PrunePlan = { targets, frees_bytes: targets.reduce((sum, { frees_bytes }) => sum + frees_bytes, 0) };
  return { request, plan, planned_at: clock().toISOString() };
}

/** The removal of chosen snapshots, wherever they are; of what a share target lists, on this machine. */
async function chosenRemoval(context: Context, request: PruneRequest & { remove: string[] }): Promise<PlannedPrune> {
  const { target = '', remove: ids } = request;
  const { share } = findTarget(context.configuration, target);
  const { snapshots } = await listSnapshots(context, target, { original: true });
  const { remove = [], keep = [] } = Object.groupBy(snapshots, ({ id }) => (ids.includes(id) ? 'remove' : 'keep'));
  const pinned = remove.find((row) => row.pinned);
  if (pinned) throw isPinned(target, pinned);
  const from: SnapshotLocation[] = share ? ['local'] : ['local', 'remote'];
  const planned = await withFreedBytes(context, { target, keep, remove, from });
  return plannedOf(context, request, [planned]);
}

/** Plans the removals that the policy of the hub makes at the next publication, from the hub only. */
async function planOfHub(context: Context, request: PruneRequest): Promise<PlannedPrune> {
  const { target: name = '' } = request;
  const client = await openCloud(context);
  const { body } = await client.call('getRetention', { parameters: { name }, query: {} });
  if (!body?.keep || request.from === 'local') throw keepsNothing();
  const ids = new Set(body.removes.map(({ id }) => id));
  const { snapshots } = await listSnapshots(context, name);
  const inHub = snapshots.filter(({ where }) => where.includes('remote'));
  const [remove, keep] = [inHub.filter(({ id }) => ids.has(id)), inHub.filter(({ id }) => !ids.has(id))];
  const planned = await withFreedBytes(context, { target: name, keep, remove, from: ['remote'] });
  return plannedOf(context, request, [planned]);
}

/** Removes what was planned, then the objects that no snapshot names any more. It cannot be undone. */
export async function applyPrune(context: Context, { plan }: PlannedPrune): Promise<PrunePlan> {
  const { report } = context;
  const { targets } = plan;
  await sweepImages(context);
  for (const { target, remove } of targets) await assertUnpinned(context, { target, remove });
  for (const { target, remove, from, frees_bytes: size_bytes, saves } of targets) {
    for (const save of saves?.remove ?? []) await removeSave(context, { target, save });
    if (remove.length === 0) continue;
    const what = `${remove.length} ${remove.length === 1 ? 'snapshot' : 'snapshots'} of ${target}`;
    const step = { step: `remove ${target}`, label: `Remove ${what}`, done: `Removed ${what}` };
    const work = () =>
      withStep(report, step, () =>
        eachPlace(context, { target, remove, from }, async (removal) => removeFrom(context, removal)),
      );
    await recorded(context, { operation: 'prune', target, size_bytes }, { work });
  }
  return plan;
}

/** A pin that was set since the plan was made counts. */
async function assertUnpinned(context: Context, { target, remove }: Pick<PrunedTarget, 'target' | 'remove'>) {
  if (remove.length === 0) return;
  const { snapshots } = await listSnapshots(context, target, { original: true });
  const ids = new Set(remove.map(({ id }) => id));
  const pinned = snapshots.find(({ id, pinned }) => pinned && ids.has(id));
  if (pinned) throw planOutdated(`Snapshot ${pinned.id} of ${target} was pinned`);
}

async function planTarget(
  context: Context,
  { name, keep, from: only }: { name: string; keep: KeepPolicy; from: SnapshotLocation | undefined },
): Promise<PrunedTarget> {
  if (findTarget(context.configuration, name).share) throw sharesOnly(name);
  const { snapshots } = await listSnapshots(context, name);
  const from = (['local', 'remote'] as const).filter((place) => place === (only ?? place));
  // What lies elsewhere too counts only where something is to be removed.
  const rows = snapshots.filter(({ where }) => where.some((place) => from.includes(place)));
  const now = context.clock();
  const uncounted = rows.filter((row) => !isCounted(context, row));
  const kept = new Set([
    ...uncounted,
    ...keptBy(
      keep,
      rows.filter((row) => !uncounted.includes(row)),
      now,
    ),
  ]);
  if (uncounted.length > 0) {
    const ids = boundedList(
      uncounted.map(({ id }) => id),
      MOST_LISTED,
    );
    const message = `Snapshots of ${name} that are not signed by a trusted key, or are of the future, do not count and stay: ${ids}`;
    context.report({ event: 'warning', code: 'snapshots_not_counted', message });
  }
  const remove = rows.filter((row) => !kept.has(row));
  const planned = await withFreedBytes(context, { target: name, keep: [...kept], remove, from });
  const saves = from.includes('local') ? await planSaves(context, name) : null;
  return saves === null ? planned : { ...planned, saves };
}

/** The rules of the configuration, not those of the request; `null` without saves. */
async function planSaves(context: Context, target: string): Promise<NonNullable<PrunedTarget['saves']> | null> {
  const saves = await listAllSaves(context, target);
  if (saves.length === 0) return null;
  const manifests = saves.map(({ manifest }) => manifest);
  const beyond = new Set(await savesBeyondRules(context, manifests));
  const { keep = [], remove = [] } = Object.groupBy(saves, ({ manifest }) =>
    beyond.has(manifest) ? 'remove' : 'keep',
  );
  const size_bytes = await freedBytes(context, { from: ['local'], remote: null, manifests });
  return { keep: keep.map(({ row }) => row), remove: remove.map(({ row }) => row), size_bytes };
}

/** Anybody who can write to a bucket could displace snapshots otherwise. */
function isCounted({ configuration, clock }: Context, { signature, created_at }: SnapshotRow): boolean {
  const isSound =
    trustedKeysOf({ configuration }) === undefined ? signature.state !== 'invalid' : signature.state === 'trusted';
  return isSound && Date.parse(created_at) <= clock().getTime() + CLOCK_DIFFERENCE_MS;
}

const CLOCK_DIFFERENCE_MS = 24 * 3_600_000;
const MOST_LISTED = 5;

async function withFreedBytes(context: Context, planned: Omit<PrunedTarget, 'frees_bytes'>): Promise<PrunedTarget> {
  let frees_bytes = 0;
  await eachPlace(context, planned, async (removal) => {
    frees_bytes += await freedBytes(context, removal);
  });
  return { ...planned, frees_bytes };
}

type RemovalList = Pick<PrunedTarget, 'target' | 'remove' | 'from'>;

/** Calls `act` with what there is to be removed on this machine, and on each remote repository. */
async function eachPlace(
  context: Context,
  { target, remove, from }: RemovalList,
  act: (removal: Parameters<typeof removeFrom>[1]) => Promise<void>,
): Promise<void> {
  if (remove.length === 0) return;
  const found = await findSnapshots(context, { target, ids: remove.map(({ id }) => id) });
  const local = found.filter((one) => one.local).map(({ manifest }) => manifest);
  if (from.includes('local') && local.length > 0) await act({ from: ['local'], remote: null, manifests: local });
  if (!from.includes('remote')) return;
  const byRemote = Map.groupBy(
    found.filter(({ remote }) => remote),
    ({ remote }) => remote?.name,
  );
  for (const inRemote of byRemote.values()) {
    const remote = inRemote[0]?.remote ?? null;
    await act({ from: ['remote'], remote, manifests: inRemote.map(({ manifest }) => manifest) });
  }
}

function keepsNothing(): UserError {
  return new UserError('keep_missing', 'No retention option is given', {
    hint: 'For example: tool prune --keep-last 5 --keep-within 30d --dry-run. A cloud target may have keep on the hub.',
  });
}

function sharesOnly(target: string): UserError {
  return new UserError(
    'target_shares',
    `Target "${target}" only lists shared snapshots: prune the targets that push them`,
    { hint: 'Prune the target that the snapshots belong to.' },
  );
}
