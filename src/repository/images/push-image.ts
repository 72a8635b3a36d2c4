import type { KeyObject } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import type { StagingFolder } from '../staging.ts';
import { objectKey } from '../store/keys.ts';
import { MOST_TEXT_BYTES, TooLarge } from '../store/store.ts';
import {
  distinct,
  missingThere,
  OBJECTS_AT_ONCE,
  type TransferOptions,
  type TransferTotals,
  withProgress,
} from '../transfer.ts';
import { cutImage, type ImageParts, readChunk } from './cut-image.ts';
import { chunkBytes, type ImageChunk, type ImageFacts, signImage } from './image-manifest.ts';

interface PushImageOptions extends Omit<TransferOptions, 'repository'> {
  /** The data directory of the image. */
  directory: string;
  /** Name of the image among those of its snapshot. */
  name: string;
  parts: ImageParts;
  facts: ImageFacts;
  key: KeyObject;
  staging: StagingFolder;
}

/** Copies missing chunks of an image to a remote repository, then its signed manifest. Step: `push`. */
export function pushImage(moving: PushImageOptions): Promise<TransferTotals> {
  const { manifest, name, directory, facts, key, remote, report, signal, parts } = moving;
  return remote.whilePushing(async (renew) => {
    const content = await cutImage(directory, { parts, signal });
    const text = JSON.stringify(signImage({ ...facts, ...content }, key));
    if (Buffer.byteLength(text) > MOST_TEXT_BYTES) throw new TooLarge();
    const missing = await missingThere(distinct(content.chunks), moving);
    const total = missing.reduce((sum, chunk) => sum + chunkBytes(chunk), 0);
    const place = `of the image to ${remote.name}`;
    const progress = { objects: missing.length, total, step: 'push', verb: 'Push', place, report } as const;
    let bytes = 0;
    await withProgress(progress, async (add) => {
      await mapWithConcurrency(missing, OBJECTS_AT_ONCE, async (chunk) => {
        await renew();
        bytes += await sendChunk({ ...content, chunk }, moving);
        add(chunkBytes(chunk), undefined);
      });
      await renew();
      await remote.images.write(manifest, name, text);
    });
    return { objects: missing.length, bytes };
  });
}

/** Returns its stored bytes. */
async function sendChunk(
  { files, chunk }: { files: { path: string; bytes: number }[]; chunk: ImageChunk },
  { directory, manifest, remote, pool, staging, signal }: PushImageOptions,
): Promise<number> {
  const content = await readChunk(directory, { files }, chunk);
  if (!content) throw new Error('the image changes while it is pushed');
  const key = objectKey(chunk.sha256);
  const packing = { content, destination: staging.path(`${chunk.sha256}.object`), terminator: null };
  // As a store of its own: a kept image is one copy already.
  const store = staging.path('chunks');
  const [packed] = await pool.packContents([packing], store);
  const path = join(store, key);
  await remote.objectsOf(manifest).put(key, path, { signal, onBytes: () => {}, sha256: packed?.storedSha256 });
  await rm(path, { force: true });
  return packed?.storedBytes ?? 0;
}
