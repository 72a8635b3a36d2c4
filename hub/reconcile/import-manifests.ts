import { isDamage, isImageKey, manifestKey } from '../../src/repository/repository.ts';
import { isManifestKey, objectKey } from '../../src/repository/store/keys.ts';
import type { Store, StoredFile } from '../../src/repository/store/store.ts';
import { mapWithConcurrency } from '../../src/runtime/map-with-concurrency.ts';
import { HUB } from '../database/audit.ts';
import type { Database } from '../database/database.ts';
import { expectObjects, type ObjectPlace, settleByLength, storedObjects } from '../database/snapshots/objects.ts';
import { knownManifests, publish } from '../database/snapshots/snapshots.ts';
import type { SweptTarget } from '../database/snapshots/sweeps.ts';
import { findTarget } from '../database/targets/targets.ts';
import { faultText, headlineFault } from '../manifests/headlines.ts';
import { readManifest } from '../manifests/read-manifest.ts';
import { signatureFlaw } from '../manifests/signatures.ts';
import type { ManifestSummary } from '../manifests/summarise.ts';

/** Manifests of one target in one bucket, and what the database has to do with them. */
export interface ManifestPlace {
  db: Database;
  store: Store;
  target: SweptTarget;
  profileId: string;
  /** `TOOL_HUB_TRUSTED_KEYS`. */
  trustedKeys: string[] | null;
}

export interface ManifestImportResult {
  /** Ids of the snapshots. */
  imported: string[];
  /** Manifests that the database lacks and that cannot be imported, with the reason. */
  problems: string[];
  /** Unknown manifests that are too young to tell. */
  young: number;
}

const CALLS_AT_ONCE = 8;
const MOST_OBJECTS = 200;

/**
 * Imports manifests that the database lacks: those of publications that were cut off before their commit, and those after
 * a backup that was restored. All of their objects must be in the bucket.
 */
export async function importManifests(
  place: ManifestPlace,
  { files, before }: { files: StoredFile[]; before: Date },
): Promise<ManifestImportResult> {
  const known = await knownManifests(
    place.db,
    place.target.id,
    files.map(({ key }) => key),
  );
  const unknown = files.filter(({ key }) => isManifestKey(key) && !isImageKey(key) && !known.has(key));
  const old = unknown.filter(({ modified }) => modified < before);
  const result: ManifestImportResult = { imported: [], problems: [], young: unknown.length - old.length };
  for (const { key } of old) {
    const found = await importOne(place, key);
    if (found === null) continue;
    if ('problem' in found) result.problems.push(`${key}: ${found.problem}`);
    else result.imported.push(found.id);
  }
  return result;
}

/** `null`: it was removed in the meantime, or published. */
async function importOne(place: ManifestPlace, key: string): Promise<{ id: string } | { problem: string } | null> {
  const { db, store, target, profileId, trustedKeys } = place;
  const text = await store.read(key);
  if (text === null) return null;
  const summary = await readUndamaged(text, key);
  if (summary === null) return { problem: 'it is damaged' };
  const { headline, sha256s, storedBytes, sha256 } = summary;
  if (headline.target !== target.name) return { problem: 'it is of another target' };
  const fault = headlineFault(headline, new Date());
  if (fault !== null) return { problem: faultText(fault) };
  const row = await findTarget(db, target.name);
  if (row?.id !== target.id) return null;
  const refused = signatureFlaw(headline, { target: row, trustedKeys });
  if (refused) return { problem: `it ${refused.flaw}` };
  const sizes = new Map(sha256s.map((one, index) => [one, storedBytes[index] ?? 0]));
  const missing = await settleAll(place, sizes);
  if (missing > 0) return { problem: `${missing} of its objects are not in the bucket` };
  const created = await publish(db, {
    targetId: target.id,
    profileId,
    headline,
    sha256s,
    manifestKey: key,
    manifestSha256: sha256,
    event: { by: HUB, action: 'snapshot.import', target: target.name, object: headline.id },
    // A publication that was under way is over by now, and may have replaced it.
    store: async () => {
      if ((await store.read(key)) !== text) throw new Error(`${key} was changed in the meantime`);
    },
  });
  return created ? { id: headline.id } : null;
}

async function readUndamaged(text: string, key: string): Promise<ManifestSummary | null> {
  try {
    const summary = await readManifest(text);
    return manifestKey(summary.headline) === key ? summary : null;
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}

/** Records objects that only the bucket knows as stored; how many the bucket lacks. Those have no row afterwards either. */
async function settleAll(place: ManifestPlace, sizes: Map<string, number>): Promise<number> {
  const { db, store, target, profileId } = place;
  const where: ObjectPlace = { targetId: target.id, profileId };
  const stored = await storedObjects(db, { ...where, sha256s: [...sizes.keys()] });
  const unsure = [...sizes].filter(([sha256]) => !stored.has(sha256));
  const bytesOf = async (sha256: string) => (await store.find(objectKey(sha256)))?.bytes ?? null;
  const found = await mapWithConcurrency(unsure, CALLS_AT_ONCE, ([sha256]) => bytesOf(sha256));
  const lacking = unsure.filter(([, bytes], index) => found[index] !== bytes);
  if (lacking.length > 0) return lacking.length;
  let missing = 0;
  for (let first = 0; first < unsure.length; first += MOST_OBJECTS) {
    const some = unsure.slice(first, first + MOST_OBJECTS);
    await expectObjects(
      db,
      where,
      some.map(([sha256, stored_bytes]) => ({ sha256, stored_bytes, stored_sha256: null })),
    );
    for (const [sha256] of some) {
      if (!(await settleByLength(db, { ...where, sha256 }, () => bytesOf(sha256)))) missing += 1;
    }
  }
  return missing;
}
