import type { SnapshotSignature } from './results.ts';

/** `trusted (ed25519-…)`: who signed a snapshot, for people. */
export function signatureText({ state, key }: SnapshotSignature): string {
  return key === null ? STATES[state] : `${STATES[state]} (${key})`;
}

const STATES: Record<SnapshotSignature['state'], string> = {
  none: 'none',
  invalid: 'does not match the manifest',
  unchecked: 'not verified yet',
  valid: 'valid',
  trusted: 'valid, by a trusted key',
  untrusted: 'valid, not by a trusted key',
};

/** The same in a word, for a column. */
export const SIGNATURE_WORDS: Record<SnapshotSignature['state'], string> = {
  none: 'none',
  invalid: 'invalid',
  unchecked: 'not verified',
  valid: 'valid',
  trusted: 'trusted',
  untrusted: 'untrusted',
};
