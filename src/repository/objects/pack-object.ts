import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { objectKey } from '../store/keys.ts';
import { compressFrame, encodeSeekTable, FRAME_BYTES, type ObjectFrame } from './object-format.ts';
import { hashFile, type ObjectToRead, readBuffer } from './read-object.ts';
import { release } from './release.ts';

// Work on object files, mostly synchronous: for worker threads, and for the little that a pool does without them.

export interface PackRequest {
  source: string;
  /** Not yet synced when `packFile` returns. */
  destination: string;
  terminator: string | null;
  complete: () => boolean;
  /** Blocks until the source may have grown. */
  wait: () => void;
  onBytes: (bytes: number) => void;
}

export interface PackResult {
  sha256: string;
  bytes: number;
  storedBytes: number;
  storedSha256: string;
  lines: number;
  terminated: boolean;
}

export function packFile({ source, destination, terminator, complete, wait, onBytes }: PackRequest): PackResult {
  const input = openSync(source, 'r');
  const output = openSync(destination, 'wx', 0o600);
  try {
    const buffer = readBuffer();
    const packer = createPacker(terminator);
    while (true) {
      const filled = fill(input, buffer, { before: packer.tail(), end: packer.end, complete, wait });
      if (filled === 0) break;
      const content = buffer.subarray(0, filled);
      const stored = packer.add(content);
      writeWhole(output, stored);
      release(stored);
      onBytes(filled);
      if (filled < FRAME_BYTES) break;
    }
    const { table, packed } = packer.finish();
    writeWhole(output, table);
    return packed;
  } finally {
    closeSync(input);
    closeSync(output);
  }
}

export interface StoredObject extends ObjectToRead {
  storedBytes: number;
  storedSha256: string;
}

/**
 * Returns the result of packing a complete file where its content is that of the object, which is intact and has been
 * made young; else `null`. Checksums cost a fraction of compression.
 */
function packStored(
  { source, terminator }: Pick<PackRequest, 'source' | 'terminator'>,
  { path, sha256, bytes, storedBytes, storedSha256 }: StoredObject,
): PackResult | null {
  const input = openSync(source, 'r');
  try {
    if (fstatSync(input).size !== bytes) return null;
    const buffer = readBuffer();
    const hash = createHash('sha256');
    const end = terminator === null ? null : Buffer.from(terminator);
    let tail = Buffer.alloc(0);
    let lines = 0;
    for (let read = readSync(input, buffer); read > 0; read = readSync(input, buffer)) {
      const content = buffer.subarray(0, read);
      hash.update(content);
      lines += countLines(content);
      if (end) tail = lastOf(tail, content, end.length);
    }
    if (hash.digest('hex') !== sha256 || !isIntact(path, storedSha256)) return null;
    return { sha256, bytes, storedBytes, storedSha256, lines, terminated: end !== null && tail.equals(end) };
  } finally {
    closeSync(input);
  }
}

/** Packs a file, or finds it equal to an object that a complete one may be equal to. */
export function packOrFind({ stored, ...request }: PackRequest & { stored: StoredObject | null }): PackedContent {
  const same = stored && packStored(request, stored);
  if (!same) return { ...packFile(request), isStored: false };
  request.onBytes(same.bytes);
  return { ...same, isStored: true };
}

/** Makes it young, too. */
export function isIntact(path: string, storedSha256: string): boolean {
  try {
    return makeYoung(path) && hashFile(path) === storedSha256;
  } catch {
    return false;
  }
}

function makeYoung(path: string): true {
  const now = new Date();
  utimesSync(path, now, now);
  return true;
}

interface Packer {
  /** The terminator, as bytes. */
  end: Buffer | null;
  /** The last bytes that were added, as many as the terminator has. */
  tail(): Buffer;
  /** The frame of the next content. A caller that knows the number of lines saves counting them. */
  add(content: Buffer, lines?: number): Buffer<ArrayBuffer>;
  finish(): { table: Buffer; packed: PackResult };
}

export function createPacker(terminator: string | null): Packer {
  const hash = createHash('sha256');
  const storedHash = createHash('sha256');
  const frames: ObjectFrame[] = [];
  const end = terminator === null ? null : Buffer.from(terminator);
  let lines = 0;
  let storedBytes = 0;
  let tail = Buffer.alloc(0);
  return {
    end,
    tail: () => tail,
    add(content, linesOfContent = countLines(content)) {
      hash.update(content);
      lines += linesOfContent;
      if (end) tail = lastOf(tail, content, end.length);
      const stored = compressFrame(content);
      storedHash.update(stored);
      storedBytes += stored.length;
      frames.push({ storedBytes: stored.length, bytes: content.length });
      return stored;
    },
    finish() {
      const table = encodeSeekTable(frames);
      storedHash.update(table);
      const packed = {
        sha256: hash.digest('hex'),
        bytes: frames.reduce((sum, frame) => sum + frame.bytes, 0),
        storedBytes: storedBytes + table.length,
        storedSha256: storedHash.digest('hex'),
        lines,
        terminated: end !== null && tail.equals(end),
      };
      return { table, packed };
    },
  };
}

export interface ContentToPack {
  content: Uint8Array<ArrayBuffer>;
  /** Path at which the object is written and synced, before it is moved into the store. */
  destination: string;
  terminator: string | null;
}

export interface PackedContent extends PackResult {
  /** The store has the object, which is young. */
  isStored: boolean;
  /** The store had none of this content. */
  isNew?: boolean;
}

/**
 * Packs contents in memory, like `packFile`, into the folder of the store: an object that is there, byte for byte, is
 * not written again. They are synced side by side, since each waits for the disk. The new names are durable when their
 * folders are synced.
 */
export function packContents(contents: ContentToPack[], store: string): Promise<PackedContent[]> {
  return mapWithConcurrency(contents, SYNCS_AT_ONCE, (content) => packContent(content, store));
}

/** Each has a file open. */
const SYNCS_AT_ONCE = 32;

const syncDescriptor = promisify(fsync);

async function packContent({ content, destination, terminator }: ContentToPack, store: string): Promise<PackedContent> {
  const packer = createPacker(terminator);
  const parts: Buffer[] = [];
  for (let from = 0; from < content.length; from += FRAME_BYTES) {
    const { buffer, byteOffset, length } = content.subarray(from, from + FRAME_BYTES);
    parts.push(packer.add(Buffer.from(buffer, byteOffset, length)));
  }
  const { table, packed } = packer.finish();
  const object = Buffer.concat([...parts, table]);
  const path = join(store, objectKey(packed.sha256));
  if (bytesAt(path) === object.length && isThere(path, object)) return { ...packed, isStored: true };
  const output = openSync(destination, 'wx', 0o600);
  try {
    writeWhole(output, object);
    await syncDescriptor(output);
  } finally {
    closeSync(output);
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Asked again: an equal content may have been stored meanwhile.
  const isNew = bytesAt(path) === undefined;
  // Replaces one that differs, which may be damaged.
  renameSync(destination, path);
  return { ...packed, isStored: true, isNew };
}

function bytesAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** A sweep spares what is young; what it removes meanwhile is not there. */
function isThere(path: string, object: Buffer): boolean {
  try {
    return readFileSync(path).equals(object) && makeYoung(path);
  } catch {
    return false;
  }
}

interface Growth {
  /** The end of the previous read, where a terminator may begin. */
  before: Buffer;
  end: Buffer | null;
  complete: () => boolean;
  wait: () => void;
}

function fill(input: number, buffer: Buffer, { before, end, complete, wait }: Growth): number {
  let filled = 0;
  while (filled < buffer.length) {
    // Before the read, so that everything written before completion is read.
    const last = complete();
    const read = readSync(input, buffer, filled, buffer.length - filled, null);
    filled += read;
    if (read > 0) continue;
    if (last) break;
    if (end && lastOf(before, buffer.subarray(0, filled), end.length).equals(end)) break;
    wait();
  }
  return filled;
}

function lastOf(before: Buffer, content: Buffer, length: number): Buffer<ArrayBuffer> {
  return Buffer.concat([before, content.subarray(-length)]).subarray(-length);
}

function countLines(content: Buffer): number {
  let lines = 0;
  for (let at = content.indexOf(10); at !== -1; at = content.indexOf(10, at + 1)) lines += 1;
  return lines;
}

export function writeWhole(output: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(output, bytes, written);
}
