import { scryptSync } from 'node:crypto';

/** Slow on purpose, since a password may be short: some 30 ms. */
const COST = { N: 16_384, r: 8, p: 1 };

/** What tells whether a sealed value is the given one. */
export function fingerprint(value: string, salt: string): string {
  return scryptSync(value, Buffer.from(salt, 'base64url'), 24, COST).toString('base64url');
}
