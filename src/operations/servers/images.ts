import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as v from 'valibot';
import type { ImageFacet, ImagePrograms } from '../../engines/facets/image.ts';
import { ENGINE_IDS, profileOf } from '../../engines/list.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { Context } from '../../runtime/context.ts';
import { branchDatabase } from '../branch/branch-database.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { trustedKeysOf } from '../snapshots/signatures.ts';
import { isSignedState, signState } from '../state-signature.ts';
import { readState } from '../working-state.ts';

const imageSchema = v.strictObject({
  format: v.literal(1),
  target: v.string(),
  snapshot: v.string(),
  database: v.string(),
  created_at: v.pipe(v.string(), v.isoTimestamp()),
  engine: v.picklist(ENGINE_IDS),
  /** Version and build of the server programs. */
  build: v.string(),
  /** Pages depend on the machine. */
  architecture: v.string(),
  platform: v.string(),
  /** Providers and versions, as of the extensions. */
  collations: v.string(),
  /** Without them, as earlier versions have signed it, an image is removed and never started. */
  extensions: v.optional(v.array(v.string()), []),
  /** The key of another machine, which has made it. */
  signer: v.optional(v.string()),
  /** A server runs the code that is in its files: those of others are never started. */
  signature: v.string(),
});
type ImageManifest = v.InferOutput<typeof imageSchema>;
type ImageFacts = Omit<ImageManifest, 'signature'>;

export interface Image {
  /** Its name is never used again. */
  folder: string;
  manifest: ImageManifest;
}

export interface ImageKey {
  target: string;
  manifest: Manifest;
  database: string;
  programs: ImagePrograms;
}

const FOLDER = 'images';
/** Next to the data directory, `data`. */
const MANIFEST = 'image.json';

function imagesFolder({ configuration }: Pick<Context, 'configuration'>): string {
  return join(configuration.settings.working_directory, FOLDER);
}

export const dataOf = ({ folder }: Image): string => join(folder, 'data');

/** Finds the newest image of a snapshot for these server programs that this user has made, or fetched and still trusts. */
export async function findImage(context: Context, wanted: ImageKey): Promise<Image | undefined> {
  // One that was fetched may have the name of another target.
  const { database: _, ...facts } = factsOf(wanted);
  const same = (await listImages(context)).filter(({ manifest }) =>
    Object.entries(facts).every(([name, value]) => manifest[name as keyof typeof facts] === value),
  );
  for (const image of same.sort(byAge)) {
    if (await isOwn(context, image).catch(() => false)) return image;
  }
  return undefined;
}

async function isOwn(context: Context, { folder, manifest: { signature, ...facts } }: Image): Promise<boolean> {
  if (facts.signer !== undefined && !trustedKeysOf(context)?.includes(facts.signer)) return false;
  return isSignedState(context, { ...statementOf(basename(folder), facts), signature });
}

function statementOf(name: string, facts: ImageFacts) {
  return { purpose: 'server image', content: { name, ...facts } };
}

/** Returns what identifies the image of a snapshot, with the database that it has when it is made here. */
export function imageKeyOf(
  { databases }: Pick<ImageFacet, 'databases'>,
  { target, manifest, programs }: Omit<ImageKey, 'database'>,
): ImageKey {
  const { nameLimit: limit } = profileOf(manifest.engine);
  const database = branchDatabase(target, { prefix: '', limit }, new Set(databases));
  return { target, manifest, database, programs };
}

export function factsOf({ target, manifest, database, programs: { build } }: ImageKey) {
  const { arch: architecture, platform } = process;
  return { engine: manifest.engine, target, snapshot: manifest.id, database, build, architecture, platform };
}

function byAge(a: Image, b: Image): number {
  return b.manifest.created_at.localeCompare(a.manifest.created_at) || b.folder.localeCompare(a.folder);
}

/** Finds the images of a target that this user has made or fetched. */
export async function ownImagesOf(context: Context, target: string): Promise<Image[]> {
  const own: Image[] = [];
  for (const image of await listImages(context)) {
    if (image.manifest.target === target && (await isOwn(context, image).catch(() => false))) own.push(image);
  }
  return own;
}

/** Lists complete images: a folder is put in its place when it is whole. */
export async function listImages(context: Context): Promise<Image[]> {
  const root = imagesFolder(context);
  const names = (await readdir(root).catch(() => [])).filter((name) => /^[0-9a-f]{16}$/.test(name));
  const images: Image[] = [];
  for (const name of names) {
    const file = { name: join(FOLDER, name, MANIFEST), schema: imageSchema };
    const manifest = await readState(context, file).catch(() => undefined);
    if (manifest) images.push({ folder: join(root, name), manifest });
  }
  return images;
}

/** Reports whether the image is still in its place. */
export async function isStored(context: Context, { folder }: Image): Promise<boolean> {
  return (await listImages(context)).some((one) => one.folder === folder);
}

/** Puts a complete image in its place, and removes older ones of the target, which servers have copied. */
export async function storeImage(context: Context, unfinished: string, facts: ImageFacts): Promise<Image> {
  const root = imagesFolder(context);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const name = randomBytes(8).toString('hex');
  // Without a key it is for this run only.
  const signature = await signState(context, statementOf(name, facts)).catch(() => '');
  const manifest: ImageManifest = { ...facts, signature };
  await writeFile(join(unfinished, MANIFEST), JSON.stringify(manifest), { mode: 0o600, flush: true });
  const image = { folder: join(root, name), manifest };
  await rename(unfinished, image.folder);
  await removeImages(context, (other) => other.manifest.target === manifest.target && byAge(image, other) < 0);
  return image;
}

/** Moves images to a staging folder first, so that none is there in part. */
export async function removeImages(context: Context, isRemoved: (image: Image) => boolean): Promise<void> {
  const images = (await listImages(context)).filter(isRemoved);
  if (images.length === 0) return;
  await using staging = await localRepository(context).stage();
  for (const [index, { folder }] of images.entries()) {
    // Another run may have removed it.
    await rename(folder, staging.path(`image-${index}`)).catch(() => {});
  }
}
