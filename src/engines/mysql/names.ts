import { createHash, randomBytes } from 'node:crypto';

/** A name may have so many characters. */
const NAME_LIMIT = 64;
const LONGEST_SUFFIX = '.tool-new-00000000'.length;
/** Hexadecimal digits that tell apart the destinations whose names had to be cut. */
const DIGEST_LENGTH = 16;

/** The databases that a load makes beside its destination. Dots and dashes keep them apart from names people choose. */
export function besideNames(destination: string): { prefix: string; fresh: () => string; undo: string } {
  const base =
    destination.length + LONGEST_SUFFIX <= NAME_LIMIT
      ? destination
      : `${destination.slice(0, NAME_LIMIT - LONGEST_SUFFIX - DIGEST_LENGTH - 1)}-${digest(destination, DIGEST_LENGTH)}`;
  const prefix = `${base}.tool-new-`;
  return { prefix, fresh: () => `${prefix}${randomBytes(4).toString('hex')}`, undo: `${base}.tool-undo` };
}

/** Tables that the tool makes in databases of its own, and reads there: nobody else's may be called so. */
const RESERVED = new Set(['tool-mark', 'tool-journal', 'tool-journal-moved', 'tool-journal-done', 'tool-kept']);

export function isReserved(table: string): boolean {
  return RESERVED.has(table.toLowerCase());
}

/** The name of the lock that a load into the destination holds. */
export function lockName(destination: string): string {
  return `tool load ${digest(destination, 40)}`;
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
