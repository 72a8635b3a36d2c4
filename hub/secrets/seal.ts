import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { HubKey } from '../settings/parse-values.ts';

/** A secret as the database has it: a data key of its own encrypts it, and a hub key encrypts the data key. */
export interface SealedSecret {
  key_id: string;
  /** Nonce, tag and the encrypted data key. */
  wrapped_key: Buffer;
  nonce: Buffer;
  /** Encrypted text and tag. */
  sealed: Buffer;
}

/** The owner of a secret. A sealed value cannot be opened for another owner. */
export interface SecretPlace {
  owner: 'target' | 'storage_profile';
  owner_id: string;
  field: string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function seal(text: string, place: SecretPlace, keys: HubKey[]): SealedSecret {
  const [newest] = keys;
  if (!newest) throw new Error('The hub has no key');
  const dataKey = randomBytes(32);
  const nonce = randomBytes(NONCE_BYTES);
  const sealed = encrypt(Buffer.from(text), { key: dataKey, nonce, place });
  return { key_id: newest.id, wrapped_key: wrap(dataKey, place, newest), nonce, sealed };
}

/** Throws when the hub has no key for it, or when it was changed. */
export function unseal(
  { key_id, wrapped_key, nonce, sealed }: SealedSecret,
  place: SecretPlace,
  keys: HubKey[],
): string {
  const dataKey = unwrap({ key_id, wrapped_key }, place, keys);
  return decrypt(sealed, { key: dataKey, nonce, place }).toString();
}

/** The same secret, its data key wrapped by the newest hub key. */
export function rewrap<Row extends SealedSecret>(row: Row, place: SecretPlace, keys: HubKey[]): Row {
  const [newest] = keys;
  if (!newest) throw new Error('The hub has no key');
  return { ...row, key_id: newest.id, wrapped_key: wrap(unwrap(row, place, keys), place, newest) };
}

function wrap(dataKey: Buffer, place: SecretPlace, { bytes }: HubKey): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  return Buffer.concat([nonce, encrypt(dataKey, { key: bytes, nonce, place })]);
}

function unwrap(
  { key_id, wrapped_key }: Pick<SealedSecret, 'key_id' | 'wrapped_key'>,
  place: SecretPlace,
  keys: HubKey[],
): Buffer {
  const key = keys.find(({ id }) => id === key_id);
  if (!key) throw new Error(`The hub key ${key_id} is not set`);
  const nonce = wrapped_key.subarray(0, NONCE_BYTES);
  return decrypt(wrapped_key.subarray(NONCE_BYTES), { key: key.bytes, nonce, place });
}

interface Cipher {
  key: Buffer;
  nonce: Buffer;
  place: SecretPlace;
}

function encrypt(plain: Buffer, { key, nonce, place }: Cipher): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(place));
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(sealed: Buffer, { key, nonce, place }: Cipher): Buffer {
  const end = sealed.length - TAG_BYTES;
  const cipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(boundTo(place)).setAuthTag(sealed.subarray(end));
  return Buffer.concat([cipher.update(sealed.subarray(0, end)), cipher.final()]);
}

function boundTo({ owner, owner_id, field }: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify([owner, owner_id, field]));
}
