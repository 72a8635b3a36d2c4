import { scrypt, scryptSync } from 'node:crypto';
import { promisify } from 'node:util';

/** Slow on purpose, since a password may be short: some 30 ms. */
const COST = { N: 16_384, r: 8, p: 1 };
const BYTES = 24;

/** Returns a digest to compare a sealed value with a given one. */
export function fingerprint(value: string, salt: string): string {
  return scryptSync(value, Buffer.from(salt, 'base64url'), BYTES, COST).toString('base64url');
}

const scryptInPool = promisify<string, Buffer, number, typeof COST, Buffer>(scrypt);

/** Computes the same in the thread pool, so that a server answers others meanwhile. */
export async function fingerprintInPool(value: string, salt: string): Promise<string> {
  return (await scryptInPool(value, Buffer.from(salt, 'base64url'), BYTES, COST)).toString('base64url');
}
