import { isImageOf } from '../../src/repository/images/image-content.ts';
import { isNamed } from '../../src/repository/images/image-manifest.ts';
import { ManifestInvalid } from '../../src/repository/manifest/manifest.ts';
import { imageKeyOnHub } from '../../src/repository/repository.ts';
import { shell } from '../../src/text/shell-word.ts';
import { recordDownload } from '../database/audit.ts';
import { findImage, publishImage } from '../database/snapshots/images.ts';
import { readImageManifest } from '../manifests/read-manifest.ts';
import { assertTrustedImage } from '../manifests/signatures.ts';
import { writeText } from '../objects/bucket-calls.ts';
import { Problem } from '../problem.ts';
import type { Handlers } from './handler.ts';
import { invalidManifest, readableSnapshot, signedManifest } from './snapshots.ts';

export const imageRoutes = {
  async getImage({ target, caller, parameters: { snapshot: id, image: name }, event }, hub) {
    const row = await readableSnapshot(hub, { target, caller, id });
    const found = await findImage(hub.db, { pk: row.pk, name });
    if (!found) return { body: { manifest: null } };
    await recordDownload(hub.db, { ...event, action: 'snapshot.download', target: target.name, object: id });
    return { body: { manifest: await signedManifest(hub, row, found) } };
  },

  async publishImage({ target, caller, parameters: { snapshot: id, image: name }, body, event, permit }, hub) {
    const row = await readableSnapshot(hub, { target, caller, id });
    // An image also has removed rows and logs.
    if (!row.sanitized) throw refused(`Snapshot ${id} is not sanitized`);
    const image = await readImageManifest(body).catch((error) => {
      throw error instanceof ManifestInvalid ? invalidManifest(error) : error;
    });
    const { facts, signer, foreign, sha256s, sha256 } = image;
    if (!isImageOf(facts, row.headline)) throw refused('The image is of another snapshot');
    if (!isNamed(facts, name)) throw refused(`The image is not for ${name}`);
    if (foreign !== null) throw refused(`The image has a file that is no data: ${foreign}`);
    const bucket = await hub.buckets.open(row.profile_id, target.id);
    const key = imageKeyOnHub(row.headline, { name, sha256 });
    const created = await publishImage(hub.db, {
      ...{ snapshot: row, name, sha256s, manifestKey: key, manifestSha256: sha256 },
      event: { ...event, action: 'image.publish', object: id },
      async permit(transaction) {
        assertTrustedImage(signer, { target: await permit(transaction), trustedKeys: hub.settings.trustedKeys });
      },
      store: () => writeText(bucket, key, { text: body, sha256 }),
    }).catch((error) => {
      // Chunks are sent to the present storage profile of the target.
      const isMoved = row.profile_id !== target.sanitized_profile_id;
      throw isMoved && error instanceof Problem && error.code === 'objects_missing' ? moved(id, target.name) : error;
    });
    return { status: created ? 201 : 200, body: null };
  },
} satisfies Partial<Handlers>;

function moved(snapshot: string, target: string): Problem {
  return new Problem('cloud_refused', `Snapshot ${snapshot} is in a former storage profile of target "${target}"`, {
    hint: `Only a new snapshot can have an image: ${shell`tool build ${target}`}`,
  });
}

function refused(reason: string): Problem {
  return new Problem('cloud_refused', reason, { hint: 'Push an image of a sanitized snapshot: tool push' });
}
