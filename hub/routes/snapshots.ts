import type { BodyOf } from '../../src/cloud/contract/routes.ts';
import { MOST_PARTS, type Uploads } from '../../src/cloud/contract/transfers.ts';
import { ManifestInvalid } from '../../src/repository/manifest/manifest.ts';
import { manifestKey } from '../../src/repository/repository.ts';
import { objectKey } from '../../src/repository/store/keys.ts';
import { mapWithConcurrency } from '../../src/runtime/map-with-concurrency.ts';
import { type AuditEvent, recordDownload, recordEvent } from '../database/audit.ts';
import { applyKeepPolicy } from '../database/snapshots/keep-policy.ts';
import { expectObjects, type ObjectRow, settleObject } from '../database/snapshots/objects.ts';
import {
  findSnapshot,
  linkedObjects,
  listSnapshots,
  markRemoved,
  publish,
  type SnapshotRow,
  setAnnotations,
} from '../database/snapshots/snapshots.ts';
import type { TargetRow } from '../database/targets/targets.ts';
import type { Hub } from '../hub.ts';
import { reasonOf } from '../log.ts';
import { assertHeadline } from '../manifests/headlines.ts';
import { readManifest } from '../manifests/read-manifest.ts';
import { assertTrustedSignature } from '../manifests/signatures.ts';
import type { ManifestSummary } from '../manifests/summarise.ts';
import { beginUpload, completeUpload, findObject, removeKeyOnce, writeText } from '../objects/bucket-calls.ts';
import { PART_URL_SECONDS, type TargetBucket, URL_SECONDS } from '../objects/buckets.ts';
import { verifyUpload } from '../objects/verify-upload.ts';
import { type Caller, permissionsOn } from '../permissions/access.ts';
import { Problem } from '../problem.ts';
import type { Handlers } from './handler.ts';

/** Largest object in bytes that is sent as a whole; larger ones are sent in parts. */
const SINGLE_BYTES = 64 * 1024 * 1024;

/** The smallest part, but for the last, that services take is 5 MiB. */
const PART_BYTES = 16 * 1024 * 1024;

/** The sweep needs as long at most: see docs/hub.md. */
const BUSY_SECONDS = 60;

const CALLS_AT_ONCE = 4;

export const snapshotRoutes = {
  async listSnapshots({ target, caller, query: { sanitized, ...paging } }, { db }) {
    const filter = { ...paging, ...(sanitized !== undefined && { sanitized: sanitized === 'true' }) };
    const { items, next_cursor } = await listSnapshots(db, visibleTo(target, caller), filter);
    return { body: { items: items.map(({ headline }) => headline), next_cursor } };
  },

  async getSnapshot({ target, caller, parameters: { snapshot: id }, event }, hub) {
    const row = await readableSnapshot(hub, { target, caller, id });
    await recordDownload(hub.db, { ...event, action: 'snapshot.download', target: target.name, object: id });
    return { body: { headline: row.headline, manifest: await signedManifest(hub, row, row) } };
  },

  async publishSnapshot({ target, parameters: { snapshot: id }, body, event, permit }, hub) {
    const { headline, sha256s, sha256 } = await readPublished(body);
    if (headline.id !== id || headline.target !== target.name) {
      throw new Problem('cloud_refused', 'The manifest is of another snapshot', {
        errors: [{ pointer: headline.id === id ? '/target' : '/id', detail: 'must be that of the address' }],
      });
    }
    assertHeadline(headline, hub.clock());
    const profileId = profileOf(target, headline);
    const bucket = await hub.buckets.open(profileId, target.id);
    const key = manifestKey(headline);
    const created = await publish(hub.db, {
      targetId: target.id,
      profileId,
      headline,
      sha256s,
      manifestKey: key,
      manifestSha256: sha256,
      event: { ...event, action: 'snapshot.publish', object: id },
      async permit(transaction) {
        const locked = await permit(transaction);
        assertTrustedSignature(headline, { target: locked, trustedKeys: hub.settings.trustedKeys });
      },
      store: () => writeText(bucket, key, { text: body, sha256 }),
    });
    if (created && target.keep) await removeUnkept(hub, { target, published: id, event });
    return { status: created ? 201 : 200, body: null };
  },

  async annotateSnapshot({ target, caller, parameters: { snapshot: id }, body, event, permit }, hub) {
    const row = await readableSnapshot(hub, { target, caller, id });
    await hub.db.transaction().execute(async (transaction) => {
      await permit(transaction);
      await setAnnotations(transaction, row.pk, body);
      await recordEvent(transaction, { ...event, action: 'snapshot.annotate', object: id });
    });
    return { status: 204, body: null };
  },

  async removeSnapshot({ target, caller, parameters: { snapshot: id }, event, permit }, hub) {
    const row = await readableSnapshot(hub, { target, caller, id });
    await hub.db.transaction().execute(async (transaction) => {
      await permit(transaction);
      await markRemoved(transaction, row.pk);
      await recordEvent(transaction, { ...event, action: 'snapshot.remove', object: id });
    });
    hub.removals.wake();
    return { status: 204, body: null };
  },

  async requestUploads({ target, body: { sanitized, objects }, permit }, hub) {
    const profileId = profileOf(target, { sanitized });
    const bucket = await hub.buckets.open(profileId, target.id);
    const rows = await expectObjects(
      hub.db,
      { targetId: target.id, profileId, permit },
      objects.map(({ sha256, stored_sha256, stored_bytes }) => ({ sha256, stored_sha256, stored_bytes })),
    );
    const room = { parts: MOST_PARTS };
    const answers = await mapWithConcurrency(objects, CALLS_AT_ONCE, async (object) => {
      const row = rows.get(object.sha256);
      if (!row || row.state === 'removing') {
        return { answer: 'busy', sha256: object.sha256, retry_after: BUSY_SECONDS } as const;
      }
      if (row.state === 'stored') return { answer: 'present', sha256: object.sha256 } as const;
      return row.stored_bytes <= SINGLE_BYTES
        ? await singleUpload(row, { stored_sha256: object.stored_sha256, bucket, hub })
        : await uploadInParts(object, { row, bucket, hub, room });
    });
    return { body: { objects: answers } };
  },

  async verifyUploads({ target, caller, body: { sanitized, objects }, permit }, hub) {
    const profileId = profileOf(target, { sanitized });
    const bucket = await hub.buckets.open(profileId, target.id);
    const answers = await mapWithConcurrency(objects, CALLS_AT_ONCE, async ({ sha256, upload_id, etags }) => {
      const key = objectKey(sha256);
      const place = { targetId: target.id, profileId, sha256, permit };
      const answer = await settleObject(hub.db, place, {
        async inspect({ stored_bytes }) {
          if (upload_id !== undefined) await completeUpload(bucket, key, { upload_id, etags: etags ?? [] });
          const found = await findObject(bucket, key);
          if (found === null) return null;
          const { bytes } = found;
          return { bytes, isIntact: bytes === stored_bytes ? await verifyUpload(found, sha256) : null };
        },
        remove: () => removeKeyOnce(bucket, key),
        by: caller.id,
      });
      return { sha256, answer };
    });
    hub.objectChecks.wake();
    return { body: { objects: answers } };
  },

  async requestDownloads({ target, caller, parameters: { snapshot: id }, body: { objects }, event }, hub) {
    const row = await readableSnapshot(hub, { target, caller, id });
    await assertOwnObjects(hub, row, objects);
    await recordDownload(hub.db, { ...event, action: 'snapshot.download', target: target.name, object: id });
    const bucket = await hub.buckets.open(row.profile_id, target.id);
    const hrefs = await mapWithConcurrency(objects, CALLS_AT_ONCE, async (sha256) => ({
      sha256,
      href: await bucket.presign({ method: 'GET', key: objectKey(sha256), seconds: URL_SECONDS }),
    }));
    return { body: { objects: hrefs, expires_at: expiry(hub, URL_SECONDS) } };
  },
} satisfies Partial<Handlers>;

/** The snapshot is published, whatever becomes of the others: what fails here is done after the next publication. */
async function removeUnkept(
  { db, log, removals }: Hub,
  { target, published, event }: { target: TargetRow; published: string; event: Omit<AuditEvent, 'action'> },
) {
  try {
    const removed = await applyKeepPolicy(db, { targetId: target.id, published, event });
    if (removed.length > 0) removals.wake();
  } catch (error) {
    const fields = { target: target.id, ...reasonOf(error) };
    log.error('Cannot apply the keep policy; tried again after the next publication', fields);
  }
}

function visibleTo(target: TargetRow, caller: Caller) {
  return { targetId: target.id, originals: permissionsOn(target, caller).includes('read_originals') };
}

export async function readableSnapshot(
  { db }: Hub,
  { target, caller, id }: { target: TargetRow; caller: Caller; id: string },
): Promise<SnapshotRow> {
  const row = await findSnapshot(db, { ...visibleTo(target, caller), id });
  if (row) return row;
  throw new Problem('snapshot_unknown', `Target "${target.name}" has no snapshot ${id}`);
}

/** The URL of a manifest of a snapshot, or of its image. */
export async function signedManifest(
  hub: Hub,
  { profile_id, target_id }: SnapshotRow,
  { manifest_key, manifest_sha256: sha256 }: Pick<SnapshotRow, 'manifest_key' | 'manifest_sha256'>,
) {
  const bucket = await hub.buckets.open(profile_id, target_id);
  const href = await bucket.presign({ method: 'GET', key: manifest_key, seconds: URL_SECONDS });
  return { href, sha256, expires_at: expiry(hub, URL_SECONDS) };
}

export async function assertOwnObjects({ db }: Hub, { pk, id }: SnapshotRow, sha256s: string[]): Promise<void> {
  const linked = await linkedObjects(db, pk, sha256s);
  const others = sha256s.filter((sha256) => !linked.has(sha256));
  if (others.length === 0) return;
  throw new Problem('cloud_refused', `${others.length} of the objects do not belong to snapshot ${id}`, {
    errors: others.map((sha256) => ({ pointer: `/objects/${sha256s.indexOf(sha256)}`, detail: 'is not of it' })),
  });
}

/** The storage profile of the target; refuses a claim that the target cannot keep. */
function profileOf(target: TargetRow, { sanitized }: { sanitized: boolean }): string {
  const { sanitize } = target.settings as { sanitize?: { override_query?: string } };
  if (sanitized && sanitize?.override_query === undefined) {
    throw new Problem('cloud_refused', `Target "${target.name}" has no sanitization query`, {
      hint: 'Set sanitize.override_query or query_file, and run: tool cloud apply',
    });
  }
  const profile = sanitized ? target.sanitized_profile_id : target.original_profile_id;
  if (profile !== null) return profile;
  throw new Problem('cloud_refused', `Target "${target.name}" has no storage profile`, {
    hint: 'Set storage_profile, and run: tool cloud apply',
  });
}

async function readPublished(text: string): Promise<ManifestSummary> {
  try {
    return await readManifest(text);
  } catch (error) {
    throw error instanceof ManifestInvalid ? invalidManifest(error) : error;
  }
}

export function invalidManifest({ message }: ManifestInvalid): Problem {
  return new Problem('cloud_refused', `The manifest is not valid: ${message}`);
}

interface UploadDestination {
  bucket: TargetBucket;
  hub: Hub;
}

async function singleUpload(
  row: ObjectRow,
  { stored_sha256, bucket, hub }: UploadDestination & { stored_sha256: string },
): Promise<Uploads['objects'][number]> {
  const header = {
    'content-length': String(row.stored_bytes),
    'if-none-match': '*',
    ...bucket.checksumHeader(stored_sha256),
  };
  const request = { method: 'PUT', key: objectKey(row.sha256), seconds: URL_SECONDS, headers: header } as const;
  const href = await bucket.presign(request);
  return { answer: 'upload', sha256: row.sha256, href, header, expires_at: expiry(hub, URL_SECONDS) };
}

type RequestedObject = BodyOf<'requestUploads'>['objects'][number];

interface PartUploadDestination extends UploadDestination {
  row: ObjectRow;
  /** URLs that the answer may still have; the client asks for the others with their `upload_id`. */
  room: { parts: number };
}

async function uploadInParts(
  { sha256, upload_id, from_part = 1 }: RequestedObject,
  { row, bucket, hub, room }: PartUploadDestination,
): Promise<Uploads['objects'][number]> {
  const key = objectKey(sha256);
  const part_bytes = PART_BYTES * Math.ceil(row.stored_bytes / MOST_PARTS / PART_BYTES);
  const count = Math.ceil(row.stored_bytes / part_bytes);
  const uploadId = upload_id ?? (await beginUpload(bucket, key));
  const length = Math.min(Math.max(count - from_part + 1, 0), room.parts);
  room.parts -= length;
  const numbers = Array.from({ length }, (_, index) => from_part + index);
  const parts = await mapWithConcurrency(numbers, CALLS_AT_ONCE, (number) =>
    bucket.presign({
      method: 'PUT',
      key,
      seconds: PART_URL_SECONDS,
      query: { partNumber: String(number), uploadId },
    }),
  );
  const expires_at = expiry(hub, PART_URL_SECONDS);
  return { answer: 'upload_parts', sha256, upload_id: uploadId, part_bytes, from_part, parts, expires_at };
}

function expiry({ clock }: Hub, seconds: number): string {
  return new Date(clock().getTime() + seconds * 1000).toISOString();
}
