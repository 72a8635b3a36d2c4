import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { Manifest } from './manifest.ts';

/** Prefix of the signed text, so that the signature is invalid in any other context. */
const CONTEXT = 'tool snapshot manifest 1\n';
const WHOLE_CONTEXT = 'tool snapshot manifest 2\n';

/** DER prefix of an Ed25519 public key. https://www.rfc-editor.org/rfc/rfc8410 */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

const KEY_TEXT = /^ed25519-([A-Za-z0-9+/]{43}=)$/;

/** Parts that older versions of this program drop. */
const ORIGIN = ['git', 'migrations', 'dump', 'classified', 'coverage'] as const;

/** The signature itself, and what may change later: docs/storage.md, "Signatures". */
const CHANGEABLE = ['signature', 'note', 'tags', 'pinned'];

export function signManifest(manifest: Manifest, privateKey: KeyObject): Manifest {
  const signedText = (text: Buffer): string => sign(null, text, privateKey).toString('base64');
  const value = signedText(signedBytes(manifest));
  const whole = hasOrigin(manifest) ? { whole: signedText(wholeBytes(manifest)) } : {};
  return { ...manifest, signature: { key: publicKeyText(privateKey), value, ...whole } };
}

/** `invalid`: the signature does not match its key or the manifest. */
export type SignatureState = { state: 'none' } | { state: 'valid' | 'invalid'; key: string };

export function verifyManifest(manifest: Manifest): SignatureState {
  const { signature } = manifest;
  if (signature === undefined) return { state: 'none' };
  const { key, value, whole = '' } = signature;
  const publicKey = readPublicKey(key);
  const matches = (text: Buffer, base64: string): boolean =>
    publicKey !== null && verify(null, text, publicKey, Buffer.from(base64, 'base64'));
  const isValid =
    matches(signedBytes(manifest), value) && (!hasOrigin(manifest) || matches(wholeBytes(manifest), whole));
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

function hasOrigin(manifest: Manifest): boolean {
  return ORIGIN.some((part) => manifest[part] !== undefined);
}

function signedBytes(manifest: Manifest): Buffer {
  return bytesOf(manifest, { context: CONTEXT, leftOut: [...CHANGEABLE, ...ORIGIN] });
}

function wholeBytes(manifest: Manifest): Buffer {
  return bytesOf(manifest, { context: WHOLE_CONTEXT, leftOut: CHANGEABLE });
}

function bytesOf(manifest: Manifest, { context, leftOut }: { context: string; leftOut: readonly string[] }): Buffer {
  const signed = Object.entries(manifest).filter(([part]) => !leftOut.includes(part));
  return Buffer.from(context + canonicalText(Object.fromEntries(signed)));
}

/** JSON with the names of each object in order. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const sorted = entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, item]) => `${JSON.stringify(name)}:${canonicalText(item)}`).join(',')}}`;
}
