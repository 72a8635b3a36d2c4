import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { releaseChunk } from '../objects/release.ts';

/**
 * Format of encrypted content in a bucket: a header, and then chunks that are encrypted by AES-256-GCM, each with its
 * tag. The header takes its room from the first chunk, so that every chunk begins at a multiple of `CHUNK_BYTES`.
 *
 *     header    magic (8), salt (24)
 *     chunk     ciphertext, tag (16); all but the last fill their room
 *
 * The key of one file is derived from the salt and from what the file is called, so that one is never taken for another;
 * a chunk's nonce is its number and whether it is the last, so that none can be moved, left out or cut off (the STREAM
 * construction: https://eprint.iacr.org/2015/189).
 */
export const CHUNK_BYTES = 64 * 1024;

const MAGIC = Buffer.from('tool\0e1\n', 'latin1');
const HEADER_BYTES = 32;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** The content was damaged, moved, or encrypted with another key. */
export class SealBroken extends Error {
  override name = 'SealBroken';

  constructor() {
    super('it is damaged, or was not encrypted with this secret_key');
  }
}

export function sealedBytes(content: number): number {
  const chunks = Math.max(1, Math.ceil((HEADER_BYTES + content) / (CHUNK_BYTES - TAG_BYTES)));
  return HEADER_BYTES + content + chunks * TAG_BYTES;
}

/** Also of a beginning of a file that ends with a chunk. */
export function contentBytes(sealed: number): number {
  return Math.max(0, sealed - HEADER_BYTES - Math.ceil(sealed / CHUNK_BYTES) * TAG_BYTES);
}

export interface SealedFile {
  key: Uint8Array;
  name: string;
  total: number;
}

/** Encrypts a file piece by piece; deterministic. */
export interface Sealer {
  /**
   * Encrypts whole chunks in place; the content is at the buffer's end, `start` is the offset in the encrypted file.
   */
  seal(buffer: Buffer, start: number): void;
}

export function createSealer({ key, name, total }: SealedFile): Sealer {
  const header = Buffer.concat([MAGIC, randomBytes(HEADER_BYTES - MAGIC.length)]);
  const fileKey = keyOfFile(key, { name, header });
  return {
    seal(buffer, start) {
      const end = start + buffer.length;
      let read = buffer.length - (contentBytes(end) - contentBytes(start));
      eachChunk({ start, end, total }, ({ at, until, number, last }) => {
        const first = at === 0 ? HEADER_BYTES : 0;
        const bytes = until - at - first - TAG_BYTES;
        const cipher = createCipheriv(CIPHER, fileKey, nonceOf(number, { last }), { authTagLength: TAG_BYTES });
        const sealed = cipher.update(buffer.subarray(read, read + bytes));
        cipher.final();
        read += bytes;
        if (first > 0) header.copy(buffer, 0);
        sealed.copy(buffer, at - start + first);
        releaseChunk(sealed);
        cipher.getAuthTag().copy(buffer, until - start - TAG_BYTES);
      });
    },
  };
}

/** Decrypts a file piece by piece, its beginning first. */
export interface Opener {
  /** Decrypts chunks in place; `start` is their offset in the encrypted file. */
  open(buffer: Buffer, start: number): Buffer;
}

export function createOpener({ key, name, total }: SealedFile): Opener {
  if (total < sealedBytes(0) || sealedBytes(contentBytes(total)) !== total) throw new SealBroken();
  let fileKey: Uint8Array | undefined;
  return {
    open(buffer, start) {
      let written = 0;
      eachChunk({ start, end: start + buffer.length, total }, ({ at, until, number, last }) => {
        const chunk = buffer.subarray(at - start, until - start);
        const first = at === 0 ? HEADER_BYTES : 0;
        if (first > 0) fileKey = keyOfFile(key, { name, header: chunk.subarray(0, HEADER_BYTES) });
        if (!fileKey || chunk.length < first + TAG_BYTES) throw new SealBroken();
        const decipher = createDecipheriv(CIPHER, fileKey, nonceOf(number, { last }), { authTagLength: TAG_BYTES });
        decipher.setAuthTag(chunk.subarray(-TAG_BYTES));
        const content = decipher.update(chunk.subarray(first, -TAG_BYTES));
        try {
          decipher.final();
        } catch {
          throw new SealBroken();
        }
        written += content.copy(buffer, written);
        releaseChunk(content);
      });
      return buffer.subarray(0, written);
    },
  };
}

function keyOfFile(key: Uint8Array, { name, header }: { name: string; header: Buffer }): Uint8Array {
  if (!header.subarray(0, MAGIC.length).equals(MAGIC)) throw new SealBroken();
  return new Uint8Array(hkdfSync('sha256', key, header.subarray(MAGIC.length), name, 32));
}

interface Chunk {
  at: number;
  until: number;
  number: number;
  last: boolean;
}

function eachChunk(
  { start, end, total }: { start: number; end: number; total: number },
  work: (chunk: Chunk) => void,
): void {
  for (let at = start; at < end; at += CHUNK_BYTES) {
    const until = Math.min(end, at + CHUNK_BYTES);
    work({ at, until, number: at / CHUNK_BYTES, last: until === total });
  }
}

function nonceOf(number: number, { last }: { last: boolean }): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(number, 7);
  nonce.writeUInt8(last ? 1 : 0, 11);
  return nonce;
}
