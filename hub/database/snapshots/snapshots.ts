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
  /** Throws when the caller may no longer publish. */
  permit?: (db: Connection) => Promise<unknown>;
  /** Writes the manifest to the bucket: the commit follows, which publishes the snapshot. */
  store: () => Promise<void>;
}

/** Publishes a snapshot in one transaction; `false` when it was published before. */
export async function publish(db: Database, publication: Publication): Promise<boolean> {
  const { targetId, profileId, headline, sha256s, manifestKey, manifestSha256, event, store } = publication;
  return db.transaction().execute(async (transaction) => {
    await publication.permit?.(transaction);
    // A second request with the same id waits here.
    const inserted = await transaction
      .insertInto('snapshots')
      .values({
        target_id: targetId,
        profile_id: profileId,
        id: headline.id,
        created_at: headline.created_at,
        sanitized: headline.sanitized,
        headline: JSON.stringify(headline),
        manifest_key: manifestKey,
        manifest_sha256: manifestSha256,
      })
      .onConflict((on) => on.columns(['target_id', 'id']).doNothing())
      .returning('pk')
      .executeTakeFirst();
    const pk = inserted?.pk ?? (await offerMissing(transaction, { targetId, id: headline.id, manifestSha256 }));
    if (pk === null) return false;
    await assertTargetNotRemoved(transaction, targetId);
    const { missing, named } = await linkStored(transaction, { targetId, profileId, sha256s, pk });
    if (missing > 0) throw objectsMissing(missing, named);
    await recordEvent(transaction, event);
    await store();
    return true;
  });
}

/** The reference of the new row makes the removal of the target wait, and this see one that came first. */
async function assertTargetNotRemoved(db: Connection, targetId: string): Promise<void> {
  const target = await db.selectFrom('targets').select('removed_at').where('id', '=', targetId).executeTakeFirst();
  if (target?.removed_at === null) return;
  throw new Problem('target_unknown', 'The target was removed in the meantime');
}

/**
 * The key of a snapshot that the bucket lacked, and that is published again; `null` of one that is offered. Another
 * manifest under the same id is refused.
 */
async function offerMissing(
  db: Connection,
  { targetId, id, manifestSha256 }: { targetId: string; id: string; manifestSha256: string },
): Promise<number | null> {
  const found = await db
    .selectFrom('snapshots')
    .select(['pk', 'manifest_sha256', 'removed_at', 'missing_at'])
    .where('target_id', '=', targetId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (found?.manifest_sha256 === manifestSha256) {
    if (found.removed_at === null) return null;
    if (found.missing_at !== null) {
      await offerAgain(db, found.pk);
      return found.pk;
    }
  }
  throw new Problem('cloud_conflict', `Snapshot ${id} exists already, with other content`, {
    hint: 'Build a new snapshot.',
  });
}

export async function offerAgain(db: Connection, pk: number): Promise<void> {
  await db.updateTable('snapshots').set({ removed_at: null, missing_at: null }).where('pk', '=', pk).execute();
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

/** Returns those of the manifests that the database knows, including snapshots that are being removed or missing. */
export async function knownManifests(db: Database, targetId: string, keys: string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('snapshots')
    .select('manifest_key')
    .where('target_id', '=', targetId)
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
