import { sql } from 'kysely';
import { Problem } from '../../problem.ts';
import { type AuditEvent, recordEvent } from '../audit.ts';
import type { Connection, Database } from '../database.ts';
import type { RowOf } from '../tables.ts';
import { isIn, linkStored, type ObjectPlace } from './objects.ts';
import { objectsMissing, type SnapshotRow } from './snapshots.ts';

/** The chunks are counted: the check of a report, and a comparison with the bucket, may find that one is missing. */
const COMPLETE = sql<boolean>`chunks = (SELECT count(*) FROM image_objects l JOIN objects o ON o.id = l.object_id
  WHERE l.snapshot_pk = images.snapshot_pk AND l.name = images.name AND o.state = 'stored')`;

type FoundImage = Pick<RowOf<'images'>, 'manifest_key' | 'manifest_sha256'>;

/** Finds an image with all of its chunks. */
export async function findImage(
  db: Connection,
  { pk, name }: { pk: number; name: string },
): Promise<FoundImage | null> {
  const row = await db
    .selectFrom('images')
    .select(['manifest_key', 'manifest_sha256'])
    .where('snapshot_pk', '=', pk)
    .where('name', '=', name)
    .where(COMPLETE)
    .executeTakeFirst();
  return row ?? null;
}

export interface ImagePublication {
  snapshot: SnapshotRow;
  name: string;
  /** Distinct chunks. */
  sha256s: string[];
  manifestKey: string;
  manifestSha256: string;
  event: AuditEvent;
  /** Throws when the caller may no longer publish. */
  permit: (db: Connection) => Promise<unknown>;
  /** Writes the manifest to the bucket. */
  store: () => Promise<void>;
}

/**
 * Publishes an image; `false` when it was published before. Only an incomplete one is replaced. Its manifest, whose key
 * no other image has, is written before, so that no connection waits for the bucket.
 */
export async function publishImage(db: Database, publication: ImagePublication): Promise<boolean> {
  const { snapshot, name, permit, store } = publication;
  const isPublished = await db.transaction().execute(async (transaction) => {
    await permit(transaction);
    const found = await findImage(transaction, { pk: snapshot.pk, name });
    if (found) assertSame(found, publication);
    return found !== null;
  });
  if (isPublished) return false;
  await store();
  return db.transaction().execute((transaction) => insertImage(transaction, publication));
}

async function insertImage(db: Connection, publication: ImagePublication): Promise<boolean> {
  const { snapshot, name, sha256s, manifestKey, manifestSha256, event, permit } = publication;
  const { pk, target_id: targetId, profile_id: profileId } = snapshot;
  await permit(db);
  await assertOffered(db, snapshot);
  await db
    .deleteFrom('images')
    .where('snapshot_pk', '=', pk)
    .where('name', '=', name)
    .where(sql<boolean>`NOT ${COMPLETE}`)
    .execute();
  const row = { manifest_key: manifestKey, manifest_sha256: manifestSha256, chunks: sha256s.length };
  // A second request for the same image waits here.
  const inserted = await db
    .insertInto('images')
    .values({ snapshot_pk: pk, name, ...row })
    .onConflict((on) => on.doNothing())
    .returning('name')
    .executeTakeFirst();
  if (!inserted) {
    assertSame(await findImage(db, { pk, name }), publication);
    return false;
  }
  const { missing, named } = await linkStored(db, { targetId, profileId, sha256s, pk, image: name });
  if (missing > 0) throw objectsMissing(missing, named);
  await recordEvent(db, event);
  return true;
}

/** The snapshot is marked as removed at most before the transaction ends; its row, and the image, go later. */
async function assertOffered(db: Connection, { pk, id }: SnapshotRow): Promise<void> {
  const row = await db
    .selectFrom('snapshots')
    .select('pk')
    .where('pk', '=', pk)
    .where('removed_at', 'is', null)
    .forKeyShare()
    .executeTakeFirst();
  if (!row) throw new Problem('snapshot_unknown', `Snapshot ${id} was removed in the meantime`);
}

function assertSame(
  found: FoundImage | null,
  { snapshot, name, manifestSha256 }: Pick<ImagePublication, 'snapshot' | 'name' | 'manifestSha256'>,
): void {
  if (found?.manifest_sha256 === manifestSha256) return;
  throw new Problem('cloud_conflict', `Snapshot ${snapshot.id} has another image for ${name}`, {
    hint: 'It stays until the snapshot is removed. To use it, add its key to trusted_keys.',
  });
}

/** Returns those of these manifests that belong to images of the target. */
export async function knownImages(db: Database, targetId: string, keys: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('images')
    .innerJoin('snapshots', 'snapshots.pk', 'images.snapshot_pk')
    .select('images.manifest_key')
    .where('target_id', '=', targetId)
    .where((eb) => eb('images.manifest_key', '=', eb.fn.any(eb.val(keys))))
    .execute();
  return new Set(rows.map(({ manifest_key }) => manifest_key));
}

/** Removes images whose manifests the bucket lacks: the next push makes them again. */
export async function removeMissingImages(
  db: Database,
  place: ObjectPlace,
  isMissing: (key: string) => Promise<boolean>,
): Promise<void> {
  const rows = await db
    .selectFrom('images')
    .innerJoin('snapshots', 'snapshots.pk', 'images.snapshot_pk')
    .select(['snapshot_pk', 'name', 'images.manifest_key'])
    .where(isIn(place))
    .execute();
  for (const { snapshot_pk, name, manifest_key } of rows) {
    if (!(await isMissing(manifest_key))) continue;
    await db.deleteFrom('images').where('snapshot_pk', '=', snapshot_pk).where('name', '=', name).execute();
  }
}
