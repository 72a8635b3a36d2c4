import { objectKey } from '../../src/repository/store/keys.ts';
import type { StoredFile } from '../../src/repository/store/store.ts';
import type { ReconcileResult } from '../../src/results/cloud-results.ts';
import { toUserError } from '../../src/runtime/errors.ts';
import type { Report } from '../../src/runtime/events.ts';
import { removeMissingImages } from '../database/snapshots/images.ts';
import { expectObjects, type ObjectPlace, settleByLength } from '../database/snapshots/objects.ts';
import {
  type ComparedObject,
  markObjectMissing,
  markSnapshotMissing,
  objectsIn,
  snapshotsIn,
  unstoredObjects,
} from '../database/snapshots/reconciling.ts';
import { offerAgain } from '../database/snapshots/snapshots.ts';
import { allTargets, profilesOf, type SweptTarget, withSweepLock } from '../database/snapshots/sweeps.ts';
import type { BucketWork } from '../objects/buckets.ts';
import { importManifests, type ManifestPlace } from './import-manifests.ts';

export interface ReconcileOptions extends BucketWork {
  report: Report;
  signal: AbortSignal;
}

/** Compares the database with the buckets of all targets, and writes to the database what the buckets have and lack. */
export async function reconcileAll({ report, ...rest }: ReconcileOptions): Promise<ReconcileResult> {
  const { db, signal } = rest;
  const targets = await allTargets(db);
  const result: ReconcileResult = {
    ...{ targets: targets.length, imported: [], missing: [], restored: [] },
    ...{ objects_added: 0, objects_missing: 0, problems: [] },
  };
  for (const [index, target] of targets.entries()) {
    signal.throwIfAborted();
    const counted = { done: index, total: targets.length, unit: 'targets', current: target.name } as const;
    report({ event: 'progress', step: 'reconcile', ...counted });
    const lock = { targetId: target.id, wait: true };
    await withSweepLock(db, lock, () => reconcileTarget(target, { ...rest, result }));
  }
  return result;
}

interface ReconcileState extends Omit<ReconcileOptions, 'report'> {
  result: ReconcileResult;
}

/** A bucket that cannot be read does not keep the others from being compared. */
async function reconcileTarget(target: SweptTarget, reconciling: ReconcileState): Promise<void> {
  const { db, buckets, trustedKeys, signal, result } = reconciling;
  for (const profileId of await profilesOf(db, target.id)) {
    try {
      const store = await buckets.store(profileId, target.id, signal);
      await reconcilePlace({ db, store, target, profileId, trustedKeys, result });
    } catch (error) {
      signal.throwIfAborted();
      result.problems.push(`${target.name}: ${toUserError(error).message}`);
    }
  }
}

interface Place extends ManifestPlace {
  result: ReconcileResult;
}

async function reconcilePlace(place: Place): Promise<void> {
  const { store, target, result } = place;
  const objects = await store.list('objects');
  await compareObjects(place, objects);
  const files = await store.list('snapshots');
  if (!target.removed) {
    const { imported, problems } = await importManifests(place, { files, before: new Date(ALWAYS) });
    result.imported.push(...imported.map((snapshot) => ({ target: target.name, snapshot })));
    result.problems.push(...problems.map((problem) => `${target.name}: ${problem}`));
  }
  const keys = new Set(files.map(({ key }) => key));
  await compareSnapshots(place, keys);
  await compareImages(place, keys);
}

/** Later than every manifest: an import waits for a publication that is under way. */
const ALWAYS = 8.64e15;

const OBJECTS_AT_ONCE = 200;

async function compareObjects({ db, store, target, profileId, result }: Place, files: StoredFile[]): Promise<void> {
  const place: ObjectPlace = { targetId: target.id, profileId };
  const sizes = new Map(files.map(({ key, bytes }) => [key, bytes]));
  const lacking: ComparedObject[] = [];
  for await (const row of objectsIn(db, place)) {
    const key = objectKey(row.sha256);
    if (row.state === 'stored' && sizes.get(key) !== row.stored_bytes) lacking.push(row);
    sizes.delete(key);
  }
  for (const row of lacking) {
    const inspect = async () => (await store.find(objectKey(row.sha256)))?.bytes ?? null;
    const { missing, snapshots } = await markObjectMissing(db, row, inspect);
    if (missing) result.objects_missing += 1;
    result.missing.push(...snapshots.map((snapshot) => ({ target: target.name, snapshot })));
  }
  const unknown = [...sizes].flatMap(([key, stored_bytes]) => {
    const [, sha256] = /^objects\/[0-9a-f]{2}\/([0-9a-f]{64})$/.exec(key) ?? [];
    return sha256 === undefined ? [] : [{ sha256, stored_bytes, stored_sha256: null }];
  });
  for (let first = 0; first < unknown.length; first += OBJECTS_AT_ONCE) {
    await expectObjects(db, place, unknown.slice(first, first + OBJECTS_AT_ONCE));
  }
  result.objects_added += unknown.length;
}

/** An image without a manifest is not reported: `tool push` makes it again. */
function compareImages({ db, store, target, profileId }: Place, keys: Set<string>): Promise<void> {
  const isMissing = async (key: string) => !keys.has(key) && (await store.find(key)) === null;
  return removeMissingImages(db, { targetId: target.id, profileId }, isMissing);
}

async function compareSnapshots({ db, store, target, profileId, result }: Place, keys: Set<string>): Promise<void> {
  const place: ObjectPlace = { targetId: target.id, profileId };
  for (const { pk, id, manifest_key, missing } of await snapshotsIn(db, place)) {
    const isThere = keys.has(manifest_key) || (await store.find(manifest_key)) !== null;
    if (!missing && !isThere) {
      await markSnapshotMissing(db, pk);
      result.missing.push({ target: target.name, snapshot: id });
    }
    if (!missing || !isThere) continue;
    let lacking = 0;
    for (const { sha256, stored_bytes } of await unstoredObjects(db, pk)) {
      const bytes = (await store.find(objectKey(sha256)))?.bytes ?? null;
      const isStored = bytes === stored_bytes && (await settleByLength(db, { ...place, sha256 }, async () => bytes));
      if (!isStored) lacking += 1;
    }
    if (lacking > 0) continue;
    await offerAgain(db, pk);
    result.restored.push({ target: target.name, snapshot: id });
  }
}
