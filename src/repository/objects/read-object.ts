import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import {
  contentDiffers,
  decodeSeekTable,
  decompressFrame,
  FOOTER_BYTES,
  FRAME_BYTES,
  largestObject,
  type ObjectFrame,
  seekTableBytes,
} from './object-format.ts';
import { release } from './release.ts';

export interface ObjectToRead {
  path: string;
  sha256: string;
  bytes: number;
}

/** The content in frames; throws at the first damaged frame, and for a wrong checksum. */
export function* readFrames({ path, sha256, bytes }: ObjectToRead): Generator<Uint8Array<ArrayBuffer>, void> {
  const input = openSync(path, 'r');
  try {
    const hash = createHash('sha256');
    let content = 0;
    let position = 0;
    const table = frameTable(input, bytes);
    const room = Buffer.allocUnsafeSlow(table.reduce((most, { storedBytes }) => Math.max(most, storedBytes), 0));
    for (const frame of table) {
      const stored = readExactly(input, { position, into: room.subarray(0, frame.storedBytes) });
      position += frame.storedBytes;
      const plain = decompressFrame(stored, frame);
      hash.update(plain);
      content += plain.length;
      yield plain;
    }
    release(room);
    if (content !== bytes || hash.digest('hex') !== sha256) throw contentDiffers();
  } finally {
    closeSync(input);
  }
}

/**
 * Verifies the checksum of the stored bytes, at a tenth of the cost of decompression. If it differs, the content
 * decides, because equal content may be compressed differently. Throws for a damaged object.
 */
export function checkStored(object: ObjectToRead, storedSha256: string | undefined): void {
  if (storedSha256 !== undefined && hashFile(object.path) === storedSha256) return;
  for (const frame of readFrames(object)) release(frame);
}

/** One buffer per thread: a new one for each of thousands of small files would burden the garbage collector. */
let sharedBuffer: Buffer<ArrayBuffer> | undefined;

export function readBuffer(): Buffer<ArrayBuffer> {
  sharedBuffer ??= Buffer.allocUnsafeSlow(FRAME_BYTES);
  return sharedBuffer;
}

export function hashFile(path: string): string {
  const input = openSync(path, 'r');
  try {
    const buffer = readBuffer();
    const hash = createHash('sha256');
    for (let read = readSync(input, buffer); read > 0; read = readSync(input, buffer)) {
      hash.update(buffer.subarray(0, read));
    }
    return hash.digest('hex');
  } finally {
    closeSync(input);
  }
}

/** Compares sizes only, at little cost. */
export function looksWhole({ path, bytes }: Pick<ObjectToRead, 'path' | 'bytes'>): boolean {
  try {
    const input = openSync(path, 'r');
    try {
      frameTable(input, bytes);
      return true;
    } finally {
      closeSync(input);
    }
  } catch {
    return false;
  }
}

function frameTable(input: number, bytes: number): ObjectFrame[] {
  const { size } = fstatSync(input);
  if (size > largestObject(bytes)) throw contentDiffers();
  if (size < FOOTER_BYTES) throw new Error('the object is empty or cut short');
  const tableBytes = seekTableBytes(
    readExactly(input, { position: size - FOOTER_BYTES, into: Buffer.alloc(FOOTER_BYTES) }),
  );
  if (tableBytes > size) throw new Error('the object is cut short');
  const table = readExactly(input, { position: size - tableBytes, into: Buffer.alloc(tableBytes) });
  return decodeSeekTable(table, { storedBytes: size, bytes });
}

function readExactly(input: number, { position, into }: { position: number; into: Buffer }): Buffer {
  for (let read = 0; read < into.length; ) {
    const more = readSync(input, into, read, into.length - read, position + read);
    if (more === 0) throw new Error('the object is cut short');
    read += more;
  }
  return into;
}
