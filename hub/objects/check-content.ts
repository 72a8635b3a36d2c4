import { createHash } from 'node:crypto';
import {
  claimedBytes,
  decodeSeekTable,
  decompressFrameAsync,
  FOOTER_BYTES,
  largestObject,
  type ObjectFrame,
  seekTableBytes,
} from '../../src/repository/objects/object-format.ts';

/** An object that is read in pieces, wherever it is. */
export interface ReadableObject {
  bytes: number;
  read(start: number, length: number): Promise<Buffer>;
}

export interface ContentBounds {
  /** Bytes of content. */
  most: number;
  signal: AbortSignal;
}

/** `too large`: it exceeds the bounds, and was not read. */
export type ContentVerdict = 'matches' | 'differs' | 'too large';

/** Bytes of one request for several frames. */
const READ_BYTES = 8 * 1024 * 1024;

/** The table of 2 TB of content in frames of 1 MB. A larger one is not read. */
const MOST_TABLE_BYTES = 16 * 1024 * 1024;

/** Compares content with the name of an object, by the rules of a reader. Rejects when the object cannot be read. */
export async function checkContent(
  object: ReadableObject,
  sha256: string,
  { most, signal }: ContentBounds,
): Promise<ContentVerdict> {
  if (object.bytes < FOOTER_BYTES) return 'differs';
  const footer = await object.read(object.bytes - FOOTER_BYTES, FOOTER_BYTES);
  const tableBytes = await orDamaged(() => seekTableBytes(footer));
  if (tableBytes === null || tableBytes > object.bytes) return 'differs';
  if (tableBytes > MOST_TABLE_BYTES) return 'too large';
  const table = await object.read(object.bytes - tableBytes, tableBytes);
  const bytes = claimedBytes(table);
  if (object.bytes > largestObject(bytes)) return 'differs';
  const frames = await orDamaged(() => decodeSeekTable(table, { storedBytes: object.bytes, bytes }));
  if (frames === null) return 'differs';
  if (bytes > most) return 'too large';
  const hash = createHash('sha256');
  let position = 0;
  for (const batch of batchesOf(frames)) {
    signal.throwIfAborted();
    const length = batch.reduce((sum, frame) => sum + frame.storedBytes, 0);
    const stored = await object.read(position, length);
    position += length;
    let at = 0;
    for (const frame of batch) {
      const content = await orDamaged(() => decompressFrameAsync(stored.subarray(at, at + frame.storedBytes), frame));
      if (content === null) return 'differs';
      hash.update(content);
      at += frame.storedBytes;
    }
  }
  return hash.digest('hex') === sha256 ? 'matches' : 'differs';
}

/** `null` where the bytes of the object are not of the format. */
async function orDamaged<Result>(decode: () => Result | Promise<Result>): Promise<Result | null> {
  try {
    return await decode();
  } catch {
    return null;
  }
}

function* batchesOf(frames: ObjectFrame[]): Generator<ObjectFrame[]> {
  let batch: ObjectFrame[] = [];
  let bytes = 0;
  for (const frame of frames) {
    if (batch.length > 0 && bytes + frame.storedBytes > READ_BYTES) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(frame);
    bytes += frame.storedBytes;
  }
  if (batch.length > 0) yield batch;
}
