import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export const ENCRYPTED = '$aes$';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `$aes$` and the hexadecimal nonce ‖ ciphertext ‖ tag of AES-256-GCM; the key is the text of `secret_key`. */
export function encrypt(plain: string, secretKey: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(secretKey, 'latin1'), nonce);
  const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return ENCRYPTED + sealed.toString('hex');
}

/** `null` for another key and for a damaged value. */
export function decrypt(encrypted: string, secretKey: string): string | null {
  if (!isWhole(encrypted)) return null;
  const sealed = Buffer.from(encrypted.slice(ENCRYPTED.length), 'hex');
  const key = Buffer.from(secretKey, 'latin1');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null;
  }
}

/** Reports whether the value has the form of an encrypted one; `false` for a truncated one. */
export function isWhole(encrypted: string): boolean {
  const hex = encrypted.slice(ENCRYPTED.length);
  const least = 2 * (NONCE_BYTES + TAG_BYTES);
  return encrypted.startsWith(ENCRYPTED) && hex.length >= least && /^(?:[0-9a-f]{2})+$/i.test(hex);
}
