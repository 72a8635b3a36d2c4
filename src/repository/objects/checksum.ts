import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/** The SHA-256 of a file, computed while its bytes pass: reading it again would cost as much as moving it. */
export interface Checksum {
  /** Bytes that pass early must be in the file: they are read again in order. */
  update(bytes: Uint8Array, position: number): void;
  /** In hexadecimal; `null` when bytes passed twice or not at all. */
  digest(): Promise<string | null>;
}

const READ_BYTES = 1024 * 1024;

export function createChecksum(file: FileHandle): Checksum {
  const hash = createHash('sha256');
  const seen = new Set<number>();
  const early = new Map<number, number>();
  let next = 0;
  let isSound = true;
  let catchingUp: Promise<void> | null = null;

  async function catchUp(): Promise<void> {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    for (let end = early.get(next); end !== undefined; end = early.get(next)) {
      early.delete(next);
      while (next < end) {
        const { bytesRead } = await file.read(buffer, 0, Math.min(READ_BYTES, end - next), next);
        if (bytesRead === 0) throw new Error('the file became shorter while it was moved');
        hash.update(buffer.subarray(0, bytesRead));
        next += bytesRead;
      }
    }
    catchingUp = null;
  }

  return {
    update(bytes, position) {
      if (seen.has(position)) isSound = false;
      seen.add(position);
      if (position !== next || catchingUp !== null) {
        early.set(position, position + bytes.length);
        return;
      }
      hash.update(bytes);
      next += bytes.length;
      if (!early.has(next)) return;
      catchingUp = catchUp().catch(() => {
        isSound = false;
      });
    },
    async digest() {
      await catchingUp;
      return isSound && early.size === 0 ? hash.digest('hex') : null;
    },
  };
}

/** The content does not match its checksum. Nothing was stored. */
export class ContentDiffers extends Error {
  override name = 'ContentDiffers';

  constructor() {
    super('the object does not match its checksum');
  }
}
