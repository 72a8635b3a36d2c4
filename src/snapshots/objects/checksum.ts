import { createHash } from 'node:crypto';

/** The SHA-256 of a file, taken while its bytes go by: to read it again would cost as much as to move it. */
export interface Checksum {
  update(bytes: Uint8Array, position: number): void;
  /** In hexadecimal; `null` when the bytes did not come in order. */
  digest(): string | null;
}

export function createChecksum(): Checksum {
  const hash = createHash('sha256');
  let next = 0;
  let inOrder = true;
  return {
    update(bytes, position) {
      inOrder &&= position === next;
      if (!inOrder) return;
      hash.update(bytes);
      next += bytes.length;
    },
    digest: () => (inOrder ? hash.digest('hex') : null),
  };
}

/** What is to be stored is not what it is said to be. Nothing has been stored. */
export class ContentDiffers extends Error {
  override name = 'ContentDiffers';

  constructor() {
    super('the object does not match its checksum');
  }
}
