import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** The keys of SCRAM-SHA-256. https://www.rfc-editor.org/rfc/rfc5802#section-3 */
interface ScramKeys {
  client: Buffer;
  /** Digest of the client's key, which the server keeps. */
  stored: Buffer;
  server: Buffer;
}

interface SaltOptions {
  salt: Buffer;
  iterations: number;
}

function scramKeys(password: string, { salt, iterations }: SaltOptions): ScramKeys {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const client = hmac(salted, 'Client Key');
  return { client, stored: createHash('sha256').update(client).digest(), server: hmac(salted, 'Server Key') };
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

const ITERATIONS = 4096;

/** A password as the server stores it: the password itself is in no statement, and so in no log of the server. */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const { stored, server } = scramKeys(password, { salt, iterations: ITERATIONS });
  const [salted, storedKey, serverKey] = [salt, stored, server].map((bytes) => bytes.toString('base64'));
  return `SCRAM-SHA-256$${ITERATIONS}:${salted}$${storedKey}:${serverKey}`;
}
