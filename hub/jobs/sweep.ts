import { isImageKey } from '../../src/repository/repository.ts';
import { objectKey } from '../../src/repository/store/keys.ts';
import type { Store, StoredFile } from '../../src/repository/store/store.ts';
import { mapWithConcurrency } from '../../src/runtime/map-with-concurrency.ts';
import { knownImages } from '../database/snapshots/images.ts';
import { knownManifests } from '../database/snapshots/snapshots.ts';
import { deleteMarked, markUnreferenced, profilesOf, type SweptTarget } from '../database/snapshots/sweeps.ts';
import { removeKey } from '../objects/bucket-calls.ts';
import type { BucketWork } from '../objects/buckets.ts';
import { importManifests } from '../reconcile/import-manifests.ts';

const HOUR = 3_600_000;

/** Younger objects may belong to a push. */
const OBJECT_AGE = 24 * HOUR;

/** A younger manifest may belong to a publication that is about to be committed. Nothing is removed meanwhile. */
const MANIFEST_AGE = HOUR;

const DELETES_AT_ONCE = 8;

export interface SweepRequest extends BucketWork {
  now: Date;
  /** Aborted: the sweep ends early. */
  signal: AbortSignal;
}

export interface SweepResult {
  /** Snapshots whose publication was cut off. */
  imported: string[];
  objects: number;
  /** Manifests that the database lacks and that were not imported: nothing of the target was removed. */
  problems: string[];
}

/** Removes what nothing references from the bucket of one target. The caller holds the lock of the target. */
export async function sweepTarget(sweeping: SweepRequest, target: SweptTarget): Promise<SweepResult> {
  const { db, buckets, trustedKeys, now, signal } = sweeping;
  const swept: SweepResult = { imported: [], objects: 0, problems: [] };
  const stores = new Map<string, Store>();
  let young = 0;
  for (const profileId of await profilesOf(db, target.id)) {
    const store = await buckets.store(profileId, target.id, signal);
    stores.set(profileId, store);
    const files = await store.list('snapshots');
    const before = new Date(now.getTime() - MANIFEST_AGE);
    if (target.removed) {
      await removeManifests(sweeping, { target, store, files: files.filter(({ modified }) => modified < before) });
      continue;
    }
    const found = await importManifests({ db, store, target, profileId, trustedKeys }, { files, before });
    swept.imported.push(...found.imported);
    swept.problems.push(...found.problems);
    young += found.young;
    await removeLostImages(sweeping, { target, store, files, before });
  }
  // An unreferenced object may belong to one of these manifests.
  if (swept.problems.length + young > 0) return swept;
  for (const [profileId, store] of stores) {
    const place = { targetId: target.id, profileId };
    swept.objects += await markUnreferenced(db, place, new Date(now.getTime() - OBJECT_AGE));
    const bucket = await buckets.open(profileId, target.id);
    const remove = async (sha256s: string[]): Promise<void> => {
      await mapWithConcurrency(sha256s, DELETES_AT_ONCE, (sha256) => removeKey(bucket, objectKey(sha256)));
    };
    while (!signal.aborted && (await deleteMarked(db, place, { now, remove })));
    await store.removeUnfinished(new Date(now.getTime() - OBJECT_AGE));
  }
  return swept;
}

/** An image whose publication was cut off, or was replaced, is not imported: the next push makes it again. */
async function removeLostImages(
  { db }: SweepRequest,
  { target, store, files, before }: { target: SweptTarget; store: Store; files: StoredFile[]; before: Date },
): Promise<void> {
  const isOld = (file: StoredFile | null): boolean => file !== null && file.modified < before;
  const images = files.filter((file) => isImageKey(file.key) && isOld(file));
  const keys = images.map(({ key }) => key);
  const known = await knownImages(db, target.id, keys);
  for (const key of keys) {
    // It may be published again meanwhile.
    if (!known.has(key) && isOld(await store.find(key))) await store.remove(key);
  }
}

/** Removes manifests that the database does not know: remains of interrupted publications. */
async function removeManifests(
  { db }: SweepRequest,
  { target, store, files }: { target: SweptTarget; store: Store; files: StoredFile[] },
): Promise<void> {
  const keys = files.map(({ key }) => key);
  const known = await knownManifests(db, target.id, keys);
  for (const key of keys) if (!known.has(key)) await store.remove(key);
}
