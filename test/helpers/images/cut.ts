import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';

const CHUNK = 8 * 1024 * 1024;
const PAGE = 8192;
const ZERO = Buffer.alloc(CHUNK);
/** Small files are cut together. */
const SMALL = 1024 * 1024;

export interface Piece {
  /** Of the parts of the chunk that are not small files. */
  file: string;
  offset: number;
  bytes: Buffer;
}

/** The files of a directory in pieces of at most 8 MB, in the order of their names. */
export function* piecesOf(directory: string): Generator<Piece> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
  for (const file of files) {
    const input = openSync(join(directory, file), 'r');
    const { size } = fstatSync(input);
    // An empty file is one piece.
    for (let offset = 0; offset === 0 || offset < size; offset += CHUNK) {
      const bytes = Buffer.allocUnsafe(Math.min(CHUNK, size - offset));
      readSync(input, bytes, 0, bytes.length, offset);
      yield { file, offset, bytes };
    }
    closeSync(input);
  }
}

/** The bytes of a directory, compressed, that a store with parts of several sizes does not have yet. */
export interface Parts {
  seen: Map<number, Set<string>>;
}

export const PART_SIZES = [PAGE, 128 * 1024, 1024 * 1024, CHUNK];

export function emptyParts(): Parts {
  return { seen: new Map(PART_SIZES.map((size) => [size, new Set<string>()])) };
}

export interface Addition {
  /** By size of the parts: compressed bytes that were new. */
  stored: Map<number, number>;
  bytes: number;
}

/** Adds a directory; returns what was new. */
export function addParts({ seen }: Parts, directory: string): Addition {
  const added: Addition = { stored: new Map(PART_SIZES.map((size) => [size, 0])), bytes: 0 };
  for (const bytes of gathered(directory)) {
    added.bytes += bytes.length;
    for (const [size, known] of seen) {
      const fresh: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        const part = bytes.subarray(at, at + size);
        if (part.equals(ZERO.subarray(0, part.length))) continue;
        const key = createHash('sha256').update(part).digest('base64').slice(0, 22);
        if (known.has(key)) continue;
        known.add(key);
        fresh.push(part);
      }
      const content = Buffer.concat(fresh);
      if (content.length === 0) continue;
      added.stored.set(size, (added.stored.get(size) ?? 0) + zstdCompressSync(content).length);
    }
  }
  return added;
}

function* gathered(directory: string): Generator<Buffer> {
  let small: Buffer[] = [];
  let held = 0;
  for (const { offset, bytes } of piecesOf(directory)) {
    if (offset === 0 && bytes.length <= SMALL) {
      // Each begins at a page.
      const rest = (PAGE - (bytes.length % PAGE)) % PAGE;
      small.push(bytes, ZERO.subarray(0, rest));
      held += bytes.length + rest;
      if (held < CHUNK) continue;
      yield Buffer.concat(small);
      [small, held] = [[], 0];
    } else yield bytes;
  }
  if (small.length > 0) yield Buffer.concat(small);
}

export const mb = (bytes: number): string => (bytes / 1e6).toFixed(1);
