import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { RemoteRepository } from '../../repository/remote-repository.ts';
import type { RemovePlan, SnapshotLocation, SnapshotRow } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { withStep } from '../../runtime/events.ts';
import { shell } from '../../text/shell-word.ts';
import { recorded } from '../history/recorded.ts';
import { type Planned, planOutdated } from '../planned.ts';
import { imagesDiskUse } from '../servers/disk-use.ts';
import { type Image, removeImages } from '../servers/images.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { findAnySnapshot, findSnapshots, type SnapshotRequest } from '../snapshots/snapshots.ts';
import { findTarget } from '../targets/find-target.ts';

export interface RemoveRequest extends SnapshotRequest {
  /** Removes it from there only. Default: from wherever it is; what a share target lists, from this machine only. */
  from?: SnapshotLocation;
  pinned?: boolean;
}

export type PlannedRemove = Planned<RemoveRequest, RemovePlan>;

/** Plans the removal of a snapshot, with the bytes that it frees. */
export async function planRemove(context: Context, request: RemoveRequest): Promise<PlannedRemove> {
  const { target } = request;
  const { manifest, row, remote } = await findAnySnapshot(context, request);
  if (row.pinned && !request.pinned) throw isPinned(target, row);
  // The remote repository of a share target belongs to those who push to it.
  const own = findTarget(context.configuration, target).share ? ['local'] : ['local', 'remote'];
  const from = row.where.filter((place) => own.includes(place) && place === (request.from ?? place));
  if (from.length === 0) {
    throw new UserError('snapshot_not_here', `Snapshot ${row.index} of ${target} (${row.id}) cannot be removed there`, {
      hint: `It is only ${row.where.includes('local') ? 'on this machine' : 'in the bucket'}: ${shell`tool target ${target}`}`,
    });
  }
  const frees_bytes = await freedBytes(context, { from, remote, manifests: [manifest] });
  return { request, plan: { target, snapshot: row, from, frees_bytes }, planned_at: context.clock().toISOString() };
}

/** Removes the snapshot's manifest, then the objects that no snapshot names any more. It cannot be undone. */
export function applyRemove(context: Context, planned: PlannedRemove): Promise<RemovePlan> {
  const { target, snapshot } = planned.plan;
  const { id, sanitized, size_bytes } = snapshot;
  return recorded(
    context,
    { operation: 'remove', target, snapshot: id, sanitized, size_bytes },
    { work: () => perform(context, planned) },
  );
}

async function perform(context: Context, { request, plan }: PlannedRemove): Promise<RemovePlan> {
  const { report } = context;
  const { target, snapshot, from } = plan;
  // By its id alone: a sanitized snapshot and its original share an index.
  const [found] = await findSnapshots(context, { target, ids: [snapshot.id] });
  if (!found) return plan;
  const { manifest, row, remote } = found;
  if (row.pinned && !request.pinned) throw planOutdated(`Snapshot ${row.id} was pinned`);
  const what = `snapshot ${manifest.id} of ${manifest.target}`;
  await withStep(report, { step: 'remove', label: `Remove ${what}`, done: `Removed ${what}` }, () =>
    removeFrom(context, { from, remote, manifests: [manifest] }),
  );
  return plan;
}

export function isPinned(target: string, { id }: SnapshotRow): UserError {
  return new UserError('snapshot_pinned', `Snapshot ${id} of ${target} is pinned`, {
    hint: `Unpin it: ${shell`tool unpin ${target} ${id}`}. Or remove it although it is pinned: ${shell`tool rm ${target} ${id} --pinned`}`,
  });
}

export interface SnapshotRemoval {
  from: SnapshotLocation[];
  remote: RemoteRepository | null;
  manifests: Manifest[];
}

/** Bytes that no other snapshot of the place shares, with those of images on this machine. */
export async function freedBytes(context: Context, { manifests, ...where }: SnapshotRemoval): Promise<number> {
  const bytes = await Promise.all(placesOf(context, where).map((place) => place.ownBytes(manifests)));
  const images = where.from.includes('local') ? await imagesDiskUse(context, imagesOf(manifests)) : 0;
  return bytes.reduce((sum, one) => sum + one, images);
}

function imagesOf(manifests: Manifest[]): (image: Image) => boolean {
  const ids = new Set(manifests.map(({ id }) => id));
  return ({ manifest }) => ids.has(manifest.snapshot);
}

/** Removes images, manifests, then what no manifest of the place names any more. */
export async function removeFrom(context: Context, { manifests, ...where }: SnapshotRemoval): Promise<void> {
  if (where.from.includes('local')) await removeImages(context, imagesOf(manifests));
  for (const place of placesOf(context, where)) {
    for (const manifest of manifests) await place.remove(manifest);
    await place.sweep(context.clock());
  }
}

function placesOf(context: Context, { from, remote }: Omit<SnapshotRemoval, 'manifests'>) {
  return [
    ...(from.includes('local') ? [localRepository(context)] : []),
    ...(from.includes('remote') && remote ? [remote] : []),
  ];
}
