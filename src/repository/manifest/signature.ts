import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { Manifest } from './manifest.ts';

/** Prefix of the signed text, so that the signature is invalid in any other context. */
const CONTEXT = 'tool snapshot manifest 1\n';

/** DER prefix of an Ed25519 public key. https://www.rfc-editor.org/rfc/rfc8410 */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

const KEY_TEXT = /^ed25519-([A-Za-z0-9+/]{43}=)$/;

/** The signature itself, and what may change later: docs/storage.md, "Signatures". */
const CHANGEABLE = ['signature', 'note', 'tags', 'pinned'];

export function signManifest(manifest: Manifest, privateKey: KeyObject): Manifest {
  const value = sign(null, signedBytes(manifest), privateKey).toString('base64');
  return { ...manifest, signature: { key: publicKeyText(privateKey), value } };
}

/** `invalid`: the signature does not match its key or the manifest. */
export type SignatureState = { state: 'none' } | { state: 'valid' | 'invalid'; key: string };

export function verifyManifest(manifest: Manifest): SignatureState {
  const { signature } = manifest;
  if (signature === undefined) return { state: 'none' };
  const { key, value } = signature;
  const publicKey = readPublicKey(key);
  const isValid = publicKey !== null && verify(null, signedBytes(manifest), publicKey, Buffer.from(value, 'base64'));
  return { state: isValid ? 'valid' : 'invalid', key };
}

export function publicKeyText(privateKey: KeyObject): string {
  const der = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  return `ed25519-${der.subarray(SPKI_PREFIX.length).toString('base64')}`;
}

export function readPublicKey(text: string): KeyObject | null {
  const [, key] = KEY_TEXT.exec(text) ?? [];
  if (key === undefined) return null;
  const der = Buffer.concat([SPKI_PREFIX, Buffer.from(key, 'base64')]);
  return createPublicKey({ key: der, type: 'spki', format: 'der' });
}

function signedBytes(manifest: Manifest): Buffer {
  const signed = Object.entries(manifest).filter(([part]) => !CHANGEABLE.includes(part));
  return Buffer.from(CONTEXT + canonicalText(Object.fromEntries(signed)));
}

/** JSON with the names of each object in order. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, item]) => `${JSON.stringify(name)}:${canonicalText(item)}`).join(',')}}`;
}
