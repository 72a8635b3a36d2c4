import { statfs } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { signingKey } from '../../config/signing-key.ts';
import type { ImageFacet, SharedImageRules } from '../../engines/facets/image.ts';
import { fetchImage } from '../../repository/images/fetch-image.ts';
import { foreignPath, isImageOf } from '../../repository/images/image-content.ts';
import { type ImageManifest, imageName, parseImageManifest, signerOf } from '../../repository/images/image-manifest.ts';
import { pushImage } from '../../repository/images/push-image.ts';
import { ManifestInvalid } from '../../repository/manifest/manifest.ts';
import { publicKeyText } from '../../repository/manifest/signature.ts';
import { createObjectPool } from '../../repository/objects/object-pool.ts';
import type { RemoteRepository } from '../../repository/remote-repository.ts';
import { isDamage } from '../../repository/repository.ts';
import { objectKey } from '../../repository/store/keys.ts';
import type { TransferTotals } from '../../repository/transfer.ts';
import type { SnapshotRow } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { toUserError, UserError } from '../../runtime/errors.ts';
import { formatBytes } from '../../text/format.ts';
import { shell } from '../../text/shell-word.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { trustedKeysOf } from '../snapshots/signatures.ts';
import { dataOf, factsOf, type Image, type ImageKey, ownImagesOf, storeImage } from './images.ts';

interface SharedImageRequest {
  facet: ImageFacet;
  wanted: ImageKey;
  found: { row: Pick<SnapshotRow, 'sanitized'>; remote: RemoteRepository | null };
}

interface FoundImage {
  /** `null` where it is not for this machine. */
  image: ImageManifest | null;
  steps: string[];
}

/**
 * Finds the image of a snapshot in its remote repository; `null` where there is none. Throws `image_refused` for a forged
 * or damaged one.
 */
export async function findSharedImage(
  context: Context,
  { facet, wanted, found }: SharedImageRequest,
): Promise<FoundImage | null> {
  const { sharing } = facet;
  const { row, remote } = found;
  if (!sharing || !remote) return null;
  const text = await readText(remote, { wanted, sharing });
  if (text === null) return null;
  const image = readImage(text, { wanted, remote });
  if (!row.sanitized)
    throw refused({ wanted, remote }, 'the snapshot is not sanitized, and such images are never shared');
  const other = (await trustedOnly(context, image, { wanted, remote })) ?? misfit(image, { wanted, sharing });
  if (other !== null) return { image: null, steps: [`Ignore the image in ${remote.name}: ${other}`] };
  return { image, steps: [`Pull missing parts of the image from ${remote.name}`] };
}

async function readText(
  remote: RemoteRepository,
  { wanted, sharing }: { wanted: ImageKey; sharing: SharedImageRules },
): Promise<string | null> {
  return remote.images.read(wanted.manifest, nameOf(wanted, sharing)).catch((error) => {
    throw isDamage(error) ? refused({ wanted, remote }, (error as Error).message) : error;
  });
}

function nameOf({ programs }: ImageKey, sharing: SharedImageRules): string {
  return imageName(sharing.majorOf(programs.version), process);
}

interface ImageSource {
  wanted: ImageKey;
  remote: RemoteRepository;
}

/** Throws `image_refused` for everything that no push writes. */
function readImage(text: string, reading: ImageSource): ImageManifest {
  const { manifest } = reading.wanted;
  let image: ImageManifest;
  try {
    image = parseImageManifest(text);
  } catch (error) {
    if (error instanceof ManifestInvalid) throw refused(reading, `its manifest is invalid: ${error.message}`);
    throw error;
  }
  if (!isImageOf(image, manifest)) throw refused(reading, 'it is of another snapshot');
  const foreign = foreignPath(image);
  if (foreign !== null) throw refused(reading, `it has a file that is no data: ${foreign}`);
  return image;
}

/** An image is code for a server: without `trusted_keys`, those of this machine's key only. */
async function trustedOnly(
  { configuration, environment }: Context,
  image: ImageManifest,
  reading: ImageSource,
): Promise<string | null> {
  const key = signerOf(image);
  if (key === null) throw refused(reading, 'its signature does not match');
  const own = publicKeyText(await signingKey(environment));
  const trusted = trustedKeysOf({ configuration });
  if (key === own || trusted?.includes(key)) return null;
  const why = `it is signed by a key that is not in trusted_keys: ${key}`;
  if (trusted) throw refused(reading, why);
  return why;
}

function misfit(
  { version, architecture, platform }: ImageManifest,
  { wanted: { programs }, sharing }: { wanted: ImageKey; sharing: SharedImageRules },
): string | null {
  const isSameMajor = sharing.majorOf(version) === sharing.majorOf(programs.version);
  if (architecture === process.arch && platform === process.platform && isSameMajor) return null;
  return `it is of version ${version} on ${platform} ${architecture}`;
}

/** Pulls the missing parts of a snapshot's image; returns `undefined` where this machine can use none. Step: `pull`. */
export async function fetchSharedImage(context: Context, request: SharedImageRequest): Promise<Image | undefined> {
  const shared = await findSharedImage(context, request);
  const {
    facet: { sharing },
    wanted,
    found: { remote },
  } = request;
  const image = shared?.image;
  if (!image || !remote || !sharing) return undefined;
  const { report, signal } = context;
  await using staging = await localRepository(context).stage();
  await using pool = createObjectPool(availableParallelism());
  signal.addEventListener('abort', () => void pool[Symbol.asyncDispose](), { once: true });
  const unfinished = await staging.folder('image');
  await assertRoom(unfinished, image);
  const bases = (await ownImagesOf(context, wanted.target)).map(dataOf);
  const { manifest } = wanted;
  const directory = join(unfinished, 'data');
  await fetchImage({ image, directory, bases, parts: sharing, staging, manifest, remote, pool, report, signal });
  const created_at = context.clock().toISOString();
  const { collations, extensions, database } = image;
  const { key } = image.signature;
  const isOwn = key === publicKeyText(await signingKey(context.environment));
  const made = isOwn ? {} : { signer: key };
  const facts = { ...factsOf({ ...wanted, database }), created_at, collations, extensions, ...made };
  return await storeImage(context, unfinished, { format: 1, ...facts });
}

async function assertRoom(folder: string, { chunks }: ImageManifest): Promise<void> {
  const bytes = chunks.reduce((sum, { pieces }) => sum + pieces.reduce((all, piece) => all + piece.bytes, 0), 0);
  const { bavail, bsize } = await statfs(folder);
  if (bytes <= bavail * bsize) return;
  throw new UserError(
    'disk_full',
    `The image needs ${formatBytes(bytes)}, and ${folder} has ${formatBytes(bavail * bsize)}`,
    { hint: 'Free space, or move working_directory to a larger disk.' },
  );
}

/** Reports whether the remote repository has an image that this machine would use, with all of its chunks. */
export async function isImageShared(context: Context, request: SharedImageRequest): Promise<boolean> {
  const { wanted, found } = request;
  const shared = await findSharedImage(context, request).catch((error) => {
    if (toUserError(error).code !== 'image_refused') throw error;
    return null;
  });
  if (!shared?.image || !found.remote) return false;
  const chunks = [...new Set(shared.image.chunks.map(({ sha256 }) => sha256))];
  const there = await found.remote.images.objectsOf(wanted.manifest, chunks).present(chunks.map(objectKey));
  return there.size === chunks.length;
}

interface ShareOptions {
  image: Image;
  wanted: ImageKey;
  facet: ImageFacet;
  /** The snapshot counts as sanitized. */
  sanitized: boolean;
  remote: RemoteRepository;
}

/** Pushes a local image to the remote repository of its snapshot. Throws `image_refused` unless that is sanitized. Step: `push`. */
export async function shareImage(
  context: Context,
  { image, wanted, facet, sanitized, remote }: ShareOptions,
): Promise<TransferTotals | null> {
  const { manifest, programs } = wanted;
  if (!sanitized) throw notSanitized(wanted);
  const { sharing } = facet;
  const name = sharing && nameOf(wanted, sharing);
  if (!name || !(await remote.images.accepts(manifest, name))) return null;
  const { report, signal, environment } = context;
  const { database, architecture, platform, collations, extensions } = image.manifest;
  const { target, id: snapshot, created_at, engine } = manifest;
  await using staging = await localRepository(context).stage();
  await using pool = createObjectPool(availableParallelism());
  signal.addEventListener('abort', () => void pool[Symbol.asyncDispose](), { once: true });
  return await pushImage({
    ...{ manifest, remote, pool, report, signal, staging },
    directory: dataOf(image),
    name,
    parts: sharing,
    facts: {
      ...{ format: 1, target, snapshot, created_at, engine, database, version: programs.version },
      ...{ architecture, platform, collations, extensions },
    },
    key: await signingKey(environment),
  });
}

function notSanitized({ manifest }: ImageKey): UserError {
  return new UserError(
    'image_refused',
    `The image of snapshot ${manifest.id} of ${manifest.target} stays on this machine`,
    {
      details: ['The snapshot is not sanitized, and an image also has removed rows and logs.'],
      hint: `Sanitize it: ${shell`tool sanitize ${manifest.target} ${manifest.id}`}`,
    },
  );
}

function refused({ wanted: { manifest }, remote }: ImageSource, why: string): UserError {
  const { id, target } = manifest;
  return new UserError('image_refused', `The image of snapshot ${id} of ${target} in ${remote.name} is refused`, {
    details: [why],
    hint: `Nothing was started. Find out who pushed it, and push it again: ${shell`tool push ${target} ${id}`}. Or load the snapshot.`,
  });
}
