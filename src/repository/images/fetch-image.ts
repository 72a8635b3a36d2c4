import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { syncPath } from '../../runtime/write-file.ts';
import { writeFully } from '../encryption/envelope.ts';
import type { StagingFolder } from '../staging.ts';
import type { ObjectStore } from '../store/store.ts';
import {
  downloadObject,
  OBJECTS_AT_ONCE,
  type TransferOptions,
  type TransferTotals,
  withProgress,
} from '../transfer.ts';
import { cutImage, type ImageParts, readChunk } from './cut-image.ts';
import { chunkBytes, type ImageChunk, type ImageManifest } from './image-manifest.ts';

interface FetchImageOptions extends Omit<TransferOptions, 'repository'> {
  image: ImageManifest;
  /** The data directory, which does not exist yet. */
  directory: string;
  /** Data directories of images on this machine, which may have some of the chunks. */
  bases: string[];
  parts: ImageParts;
  staging: StagingFolder;
}

/** Each is open, or waits for the disk. */
const FILES_AT_ONCE = 32;

/** Assembles an image from chunks that are on this machine, and from those of a remote repository. Step: `pull`. */
export async function fetchImage(fetching: FetchImageOptions): Promise<TransferTotals> {
  const { image, directory, bases, remote, report, signal } = fetching;
  await mkdir(directory, { mode: 0o700 });
  for (const folder of [...image.folders].sort()) await mkdir(join(directory, folder), { mode: 0o700 });
  await mapWithConcurrency(image.files, FILES_AT_ONCE, async ({ path, bytes }) => {
    await using file = await open(join(directory, path), 'wx', 0o600);
    await file.truncate(bytes);
  });
  const places = Map.groupBy(image.chunks, ({ sha256 }) => sha256);
  for (const base of bases) for (const sha256 of await copyChunks(base, places, fetching)) places.delete(sha256);
  const missing = [...places.values()];
  const objects = remote.images.objectsOf(fetching.manifest, [...places.keys()]);
  const total = missing.reduce((sum, [chunk]) => sum + (chunk ? chunkBytes(chunk) : 0), 0);
  const place = `of the image from ${remote.name}`;
  const progress = { objects: missing.length, total, step: 'pull', verb: 'Pull', place, report } as const;
  let bytes = 0;
  await withProgress(progress, async (add) => {
    await mapWithConcurrency(missing, OBJECTS_AT_ONCE, async (same) => {
      signal.throwIfAborted();
      bytes += await fetchChunk(same, { ...fetching, objects });
      add(same[0] ? chunkBytes(same[0]) : 0, undefined);
    });
    await mapWithConcurrency(image.files, FILES_AT_ONCE, ({ path }) => syncPath(join(directory, path)));
  });
  return { objects: missing.length, bytes };
}

/** Copies what another image has; returns the ids of its chunks. An image that is removed meanwhile has none. */
async function copyChunks(
  base: string,
  places: ReadonlyMap<string, ImageChunk[]>,
  fetching: FetchImageOptions,
): Promise<string[]> {
  const { parts, signal } = fetching;
  const content = await cutImage(base, { parts, signal }).catch(() => null);
  signal.throwIfAborted();
  const copied: string[] = [];
  for (const chunk of content?.chunks ?? []) {
    const same = places.get(chunk.sha256);
    const bytes = content && same && (await readChunk(base, content, chunk).catch(() => null));
    if (!same || !bytes) continue;
    for (const one of same) await writeChunk(one, bytes, fetching);
    copied.push(chunk.sha256);
  }
  return copied;
}

/** Returns the bytes that were moved. */
async function fetchChunk(same: ImageChunk[], fetching: FetchImageOptions & { objects: ObjectStore }): Promise<number> {
  const { manifest, remote, objects, pool, staging, signal } = fetching;
  const [first] = same;
  if (!first) return 0;
  const file = { name: 'image', sha256: first.sha256, bytes: chunkBytes(first) };
  const path = staging.path(`${first.sha256}.object`);
  let moved = 0;
  const onBytes = (bytes: number): void => {
    moved += bytes;
  };
  await downloadObject(file, path, { manifest, remote, objects, pool, signal, onBytes });
  const frames: Uint8Array[] = [];
  for await (const frame of pool.read({ path, ...file })) frames.push(frame);
  const content = Buffer.concat(frames);
  await rm(path);
  for (const one of same) await writeChunk(one, content, fetching);
  return moved;
}

/** The content was verified. */
async function writeChunk(
  { pieces }: ImageChunk,
  content: Buffer,
  { image, directory }: FetchImageOptions,
): Promise<void> {
  let at = 0;
  for (const { file, offset, bytes } of pieces) {
    await using output = await open(join(directory, image.files[file]?.path ?? ''), 'r+');
    await writeFully(output, content.subarray(at, at + bytes), offset);
    at += bytes;
  }
}
