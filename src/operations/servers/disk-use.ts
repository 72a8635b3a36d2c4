import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerFiles } from '../../results/running-servers.ts';
import type { Context } from '../../runtime/context.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { type Image, listImages } from './images.ts';
import { findServers } from './records.ts';

const READ_AT_ONCE = 32;

/**
 * Returns the files of images and running servers of a target, without those of images of some snapshots; `null` where
 * there are none. Blocks that files share count for each.
 */
export async function serversDiskUse(
  context: Context,
  target: string,
  { without = [] }: { without?: string[] } = {},
): Promise<ServerFiles | null> {
  const images = (await listImages(context)).filter(
    ({ manifest }) => manifest.target === target && !without.includes(manifest.snapshot),
  );
  const servers = (await findServers(context)).running.filter((server) => server.target === target);
  if (images.length + servers.length === 0) return null;
  const folders = [...images.map(({ folder }) => folder), ...servers.map(({ directory }) => directory)];
  return { images: images.length, servers: servers.length, size_bytes: await bytesOfAll(folders) };
}

/** Returns the bytes of the chosen images on the disk. */
export async function imagesDiskUse(context: Context, isChosen: (image: Image) => boolean): Promise<number> {
  return bytesOfAll((await listImages(context)).filter(isChosen).map(({ folder }) => folder));
}

async function bytesOfAll(folders: string[]): Promise<number> {
  let bytes = 0;
  for (const folder of folders) bytes += await bytesOf(folder);
  return bytes;
}

const BLOCK = 512;

/** Bytes on the disk. Files may go meanwhile. */
async function bytesOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = await mapWithConcurrency(entries, READ_AT_ONCE, async ({ parentPath, name }) => {
    const facts = await lstat(join(parentPath, name)).catch(() => null);
    return (facts?.blocks ?? 0) * BLOCK;
  });
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}
