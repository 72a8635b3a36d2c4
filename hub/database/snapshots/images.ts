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

/** Finds an image with all of its chunks. */
export async function findImage(
  db: Connection,
  { pk, name }: { pk: number; name: string },
): Promise<Pick<RowOf<'images'>, 'manifest_key' | 'manifest_sha256'> | null> {
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
  /** Writes the manifest to the bucket; the commit follows. */
  store: () => Promise<void>;
}

/** Publishes an image in one transaction; `false` when it was published before. Only an incomplete one is replaced. */
export async function publishImage(db: Database, publication: ImagePublication): Promise<boolean> {
  const { snapshot, name, sha256s, manifestKey, manifestSha256, event, permit, store } = publication;
  const { pk, target_id: targetId, profile_id: profileId } = snapshot;
  return db.transaction().execute(async (transaction) => {
    await permit(transaction);
    await assertOffered(transaction, snapshot);
    await transaction
      .deleteFrom('images')
      .where('snapshot_pk', '=', pk)
      .where('name', '=', name)
      .where(sql<boolean>`NOT ${COMPLETE}`)
      .execute();
    const row = { manifest_key: manifestKey, manifest_sha256: manifestSha256, chunks: sha256s.length };
    // A second request for the same image waits here.
    const inserted = await transaction
      .insertInto('images')
      .values({ snapshot_pk: pk, name, ...row })
      .onConflict((on) => on.doNothing())
      .returning('name')
      .executeTakeFirst();
    if (!inserted) {
      await assertSame(transaction, { snapshot, name, manifestSha256 });
      return false;
    }
    const { missing, named } = await linkStored(transaction, { targetId, profileId, sha256s, pk, image: name });
    if (missing > 0) throw objectsMissing(missing, named);
    await recordEvent(transaction, event);
    await store();
    return true;
  });
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

async function assertSame(
  db: Connection,
  { snapshot: { pk, id }, name, manifestSha256 }: Pick<ImagePublication, 'snapshot' | 'name' | 'manifestSha256'>,
): Promise<void> {
  const found = await findImage(db, { pk, name });
  if (found?.manifest_sha256 === manifestSha256) return;
  throw new Problem('cloud_conflict', `Snapshot ${id} has another image for ${name}`, {
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
