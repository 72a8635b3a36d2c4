import { sql } from 'kysely';
import type { Headline } from '../../../src/repository/headlines/headline.ts';
import type { Annotations } from '../../../src/repository/manifest/annotations.ts';
import { Problem } from '../../problem.ts';
import { type AuditEvent, recordEvent } from '../audit.ts';
import type { Connection, Database } from '../database.ts';
import { type Page, type PageQuery, pageOf } from '../paging.ts';
import type { RowOf } from '../tables.ts';
import { LINKED, linkStored } from './objects.ts';

export type SnapshotRow = RowOf<'snapshots'>;

export interface SnapshotScope {
  targetId: string;
  originals: boolean;
}

export async function listSnapshots(
  db: Database,
  { targetId, originals }: SnapshotScope,
  { sanitized, ...paging }: PageQuery & { sanitized?: boolean | undefined },
): Promise<Page<SnapshotRow>> {
  let base = db.selectFrom('snapshots').selectAll().where('target_id', '=', targetId).where('removed_at', 'is', null);
  if (!originals) base = base.where('sanitized', '=', sql.lit(true));
  if (sanitized !== undefined) base = base.where('sanitized', '=', sql.lit(sanitized));
  return pageOf(base, paging, { table: 'snapshots', by: { created_at: 'time', pk: 'number' }, descending: true });
}

/** `null` when it does not exist or is not visible to the caller. */
export async function findSnapshot(
  db: Connection,
  { targetId, originals, id }: SnapshotScope & { id: string },
): Promise<SnapshotRow | null> {
  let query = db
    .selectFrom('snapshots')
    .selectAll()
    .where('target_id', '=', targetId)
    .where('id', '=', id)
    .where('removed_at', 'is', null);
  if (!originals) query = query.where('sanitized', '=', true);
  return (await query.executeTakeFirst()) ?? null;
}

export interface Publication {
  targetId: string;
  profileId: string;
  headline: Headline;
  /** Distinct objects of the manifest. */
  sha256s: string[];
  manifestKey: string;
  manifestSha256: string;
  event: AuditEvent;
  /** Throws when the caller may no longer publish; called once, before the manifest is written. */
  permit?: (db: Connection) => Promise<unknown>;
  /** Writes the manifest to the bucket. */
  store: () => Promise<void>;
}

/**
 * Publishes a snapshot; `false` when it was published before. Its row and links are committed before its manifest is
 * written, as those of a snapshot that the bucket lacks, and it is offered afterwards: no connection waits for the bucket.
 */
export async function publish(db: Database, publication: Publication): Promise<boolean> {
  const { targetId, event, store } = publication;
  const pk = await db.transaction().execute((transaction) => insertUnoffered(transaction, publication));
  if (pk === null) return false;
  await store();
  return db.transaction().execute(async (transaction) => {
    await assertTargetNotRemoved(transaction, targetId);
    const isOffered = await offerAgain(transaction, pk);
    if (isOffered) await recordEvent(transaction, event);
    return isOffered;
  });
}

/** Returns the key of the row; `null` for a snapshot that is offered. */
async function insertUnoffered(db: Connection, publication: Publication): Promise<number | null> {
  const { targetId, profileId, headline, sha256s, manifestKey, manifestSha256, permit } = publication;
  await permit?.(db);
  const now = new Date();
  const inserted = await db
    .insertInto('snapshots')
    .values({
      ...{ target_id: targetId, profile_id: profileId, id: headline.id, removed_at: now, missing_at: now },
      ...{ created_at: headline.created_at, sanitized: headline.sanitized, headline: JSON.stringify(headline) },
      ...{ manifest_key: manifestKey, manifest_sha256: manifestSha256 },
    })
    .onConflict((on) => on.columns(['target_id', 'id']).doNothing())
    .returning('pk')
    .executeTakeFirst();
  const pk = inserted?.pk ?? (await takeUnoffered(db, publication));
  if (pk === null) return null;
  await assertTargetNotRemoved(db, targetId);
  const { missing, named } = await linkStored(db, { targetId, profileId, sha256s, pk });
  if (missing > 0) throw objectsMissing(missing, named);
  return pk;
}

/** The removal of the target waits for the lock, and this sees one that came first. */
async function assertTargetNotRemoved(db: Connection, targetId: string): Promise<void> {
  const targets = db.selectFrom('targets').select('removed_at').where('id', '=', targetId);
  const target = await targets.forKeyShare().executeTakeFirst();
  if (target?.removed_at === null) return;
  throw new Problem('target_unknown', 'The target was removed in the meantime');
}

/**
 * The key of a snapshot that the bucket lacked, and that is published again, maybe in another storage profile; `null` of
 * one that is offered. Another manifest under the same id is refused.
 */
async function takeUnoffered(
  db: Connection,
  { targetId, profileId, headline: { id }, manifestSha256 }: Publication,
): Promise<number | null> {
  const found = await db
    .selectFrom('snapshots')
    .select(['pk', 'profile_id', 'manifest_sha256', 'removed_at', 'missing_at'])
    .where('target_id', '=', targetId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  const isSame = found?.manifest_sha256 === manifestSha256;
  if (isSame && found.removed_at === null) return null;
  if (!isSame || found.missing_at === null) {
    throw new Problem('cloud_conflict', `Snapshot ${id} exists already, with other content`, {
      hint: 'Build a new snapshot.',
    });
  }
  const { pk } = found;
  if (found.profile_id !== profileId) {
    await db.deleteFrom('snapshot_objects').where('snapshot_pk', '=', pk).execute();
    await db.deleteFrom('images').where('snapshot_pk', '=', pk).execute();
  }
  // Kept as long as a new one.
  await db
    .updateTable('snapshots')
    .set({ profile_id: profileId, missing_at: new Date() })
    .where('pk', '=', pk)
    .execute();
  return pk;
}

/** Offers a snapshot that the bucket lacked; `false` when it was not missing. */
export async function offerAgain(db: Connection, pk: number): Promise<boolean> {
  const missing = db.updateTable('snapshots').where('pk', '=', pk).where('missing_at', 'is not', null);
  const { numUpdatedRows } = await missing.set({ removed_at: null, missing_at: null }).executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

export function objectsMissing(missing: number, named: string[]): Problem {
  return new Problem('objects_missing', `${missing} objects are not stored`, {
    hint: 'Send them, then publish again.',
    errors: named.map((sha256) => ({ pointer: `/objects/${sha256}`, detail: 'is not stored' })),
  });
}

export async function linkedObjects(db: Database, pk: number, sha256s: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom(LINKED)
    .innerJoin('objects', 'objects.id', 'linked.object_id')
    .select('objects.sha256')
    .where('linked.snapshot_pk', '=', pk)
    .where('objects.sha256', 'in', sha256s)
    .execute();
  return new Set(rows.map(({ sha256 }) => sha256));
}

/** Changes those that are given; no tags and no pin are absent keys, as in a manifest. */
export async function setAnnotations(db: Connection, pk: number, changed: Partial<Annotations>): Promise<void> {
  const { tags, pinned } = changed;
  const off = [...(tags?.length === 0 ? ['tags'] : []), ...(pinned === false ? ['pinned'] : [])];
  await sql`UPDATE snapshots SET headline = (headline || ${JSON.stringify(changed)}::jsonb) - ${off}::text[]
    WHERE pk = ${pk}`.execute(db);
}

/**
 * Returns those of the manifests that the database knows, including snapshots that are being removed or lack an object. A
 * missing one that lacks none is not known: its publication was cut off before it was offered.
 */
export async function knownManifests(db: Database, targetId: string, keys: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('snapshots')
    .select('manifest_key')
    .where('target_id', '=', targetId)
    .where(sql<boolean>`(missing_at IS NULL OR EXISTS (SELECT 1 FROM snapshot_objects l JOIN objects o ON o.id = l.object_id
      WHERE l.snapshot_pk = snapshots.pk AND o.state <> 'stored'))`)
    .where((eb) => eb('manifest_key', '=', eb.fn.any(eb.val(keys))))
    .execute();
  return new Set(rows.map(({ manifest_key }) => manifest_key));
}

/** Hides the snapshot from every caller; `removeOne` removes the rest. */
export async function markRemoved(db: Connection, pk: number): Promise<void> {
  await db.updateTable('snapshots').set({ removed_at: new Date() }).where('pk', '=', pk).execute();
}

/** A snapshot that the bucket lacks is kept so long: the bucket may be restored, too. */
const KEPT_MISSING = 30 * 86_400_000;

/**
 * Removes what is left of one removed snapshot: its manifests by `remove`, then its row. `null` when there is none but for
 * `except`. A row that another instance works on is skipped.
 */
export async function removeOne(
  db: Database,
  { except, remove }: { except: number[]; remove: (row: SnapshotRow, images: string[]) => Promise<void> },
): Promise<{ pk: number; failure: unknown } | null> {
  const keptSince = new Date(Date.now() - KEPT_MISSING);
  return db.transaction().execute(async (transaction) => {
    const row = await transaction
      .selectFrom('snapshots')
      .selectAll()
      .where('removed_at', 'is not', null)
      .where(sql<boolean>`pk <> ALL(${except}::bigint[])`)
      .where((eb) => eb.or([eb('missing_at', 'is', null), eb('missing_at', '<', keptSince)]))
      .orderBy('removed_at')
      .limit(1)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (!row) return null;
    try {
      const images = await transaction
        .selectFrom('images')
        .select('manifest_key')
        .where('snapshot_pk', '=', row.pk)
        .execute();
      await remove(
        row,
        images.map(({ manifest_key }) => manifest_key),
      );
    } catch (failure) {
      return { pk: row.pk, failure };
    }
    await transaction.deleteFrom('snapshots').where('pk', '=', row.pk).execute();
    return { pk: row.pk, failure: null };
  });
}
