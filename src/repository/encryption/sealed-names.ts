import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';

/**
 * Names in an encrypted bucket. Each part of a key except the first is a keyed hash (HMAC-SHA-256) of the path up to
 * it, followed by the part itself, encrypted with the hash as nonce (the SIV construction, RFC 5297). Equal content is
 * still one object, and only holders of the key can read or guess a name.
 */
export interface NameKeys {
  hash: Uint8Array;
  cipher: Uint8Array;
}

const HASH_BYTES = 16;

/** Padding hides the length of names. */
const ROOM = 32;

export function sealName(key: string, keys: NameKeys): string {
  const parts = key.split('/');
  return parts
    .map((part, index) => {
      if (index === 0) return part;
      const plain = Buffer.from(part);
      const padded = Buffer.alloc(Math.ceil(plain.length / ROOM) * ROOM);
      plain.copy(padded);
      const hash = hashOf(parts.slice(0, index + 1), keys);
      const cipher = createCipheriv('aes-256-ctr', keys.cipher, hash);
      return Buffer.concat([hash, cipher.update(padded)]).toString('base64url');
    })
    .join('/');
}

export function openName(name: string, keys: NameKeys): string | null {
  const [top = '', ...parts] = name.split('/');
  const path = parts.map((part) => {
    const sealed = Buffer.from(part, 'base64url');
    if (sealed.length <= HASH_BYTES) return '';
    const decipher = createDecipheriv('aes-256-ctr', keys.cipher, sealed.subarray(0, HASH_BYTES));
    return decipher.update(sealed.subarray(HASH_BYTES)).toString().replace(/\0+$/, '');
  });
  const key = [top, ...path].join('/');
  return sealName(key, keys) === name ? key : null;
}

function hashOf(path: string[], keys: NameKeys): Buffer {
  return createHmac('sha256', keys.hash).update(path.join('/')).digest().subarray(0, HASH_BYTES);
}
