import { stat, utimes } from 'node:fs/promises';
import type { Context } from '../../runtime/context.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { locationsOf } from '../snapshots/remote-repositories.ts';
import { type Image, listImages, removeImages } from './images.ts';

/** An image that nothing can tell to be in vain goes when it was not used for so many milliseconds. */
const UNUSED_MS = 7 * 24 * 3_600_000;

/** Removes stale images. */
export async function sweepImages(context: Context): Promise<void> {
  const stale = await findStaleImages(context);
  await removeImages(context, ({ folder }) => stale.some((image) => image.folder === folder));
}

/**
 * Finds images of snapshots that are nowhere any more. Configurations may share the working directory, and a bucket
 * may have the snapshot: then images go that nothing has used for a week.
 */
export async function findStaleImages(context: Context): Promise<Image[]> {
  const images = await listImages(context);
  if (images.length === 0) return [];
  const local = new Set((await localRepository(context).files()).map(({ key }) => key.slice(-'12345678.json'.length)));
  const stale: Image[] = [];
  for (const image of images) {
    const { target, snapshot } = image.manifest;
    const isConfigured = Object.hasOwn(context.configuration.settings.targets, target);
    const isLocal = local.has(`${snapshot}.json`);
    if (isConfigured && isLocal) continue;
    const isInVain = isConfigured && !context.localOnly && locationsOf(context, target).length === 0;
    if (isInVain || (await isUnused(context, image))) stale.push(image);
  }
  return stale;
}

async function isUnused({ clock }: Context, { folder }: Image): Promise<boolean> {
  const used = await stat(folder).catch(() => null);
  return used !== null && clock().getTime() - used.mtimeMs > UNUSED_MS;
}

/** The time of its folder is that of the last use. */
export async function noteUse({ clock }: Context, { folder }: Image): Promise<void> {
  const now = clock();
  // Another run may have removed it.
  await utimes(folder, now, now).catch(() => {});
}
