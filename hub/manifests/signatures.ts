import type { VerifiedHeadline } from '../../src/repository/headlines/headline.ts';
import { Problem } from '../problem.ts';

/** Keys whose signature a sanitized snapshot needs; `null`: any signature, or none. */
export interface NamedKeys {
  target: { trusted_keys: string[] | null };
  /** `TOOL_HUB_TRUSTED_KEYS`, for targets that name none. */
  trustedKeys: string[] | null;
}

interface SignatureFlaw {
  code: 'signature_invalid' | 'signature_untrusted';
  /** Follows the name of the snapshot. */
  flaw: string;
  hint: string;
}

/**
 * Finds an invalid signature and, where keys are named, a sanitized snapshot without a signature by one of them. The hub
 * cannot see what the objects hold: it trusts the holders of the keys.
 */
export function signatureFlaw(
  { sanitized, signature }: VerifiedHeadline,
  { target, trustedKeys }: NamedKeys,
): SignatureFlaw | null {
  if (signature?.state === 'invalid') {
    const flaw = 'has a signature that does not match its manifest';
    return { code: 'signature_invalid', flaw, hint: 'Build a new snapshot.' };
  }
  const keys = target.trusted_keys ?? trustedKeys;
  if (!sanitized || keys === null) return null;
  if (signature?.state === 'valid' && keys.includes(signature.key)) return null;
  const reason = signature === undefined ? 'is not signed' : `is signed by another key: ${signature.key}`;
  return {
    code: 'signature_untrusted',
    flaw: `is sanitized, and ${reason}`,
    hint: `Add the key of the building machine (tool key prints it) to ${placeOf(target)}.`,
  };
}

/** Throws for an image whose signature does not match and, where keys are named, unless one of them has signed it. */
export function assertTrustedImage(signer: string | null, { target, trustedKeys }: NamedKeys): void {
  if (signer === null) throw new Problem('signature_invalid', 'The image has a signature that does not match');
  const keys = target.trusted_keys ?? trustedKeys;
  if (keys === null || keys.includes(signer)) return;
  throw new Problem('signature_untrusted', `The image is signed by another key: ${signer}`, {
    hint: `Add the key of the building machine (tool key prints it) to ${placeOf(target)}.`,
  });
}

function placeOf({ trusted_keys }: NamedKeys['target']): string {
  return trusted_keys === null ? 'TOOL_HUB_TRUSTED_KEYS of the hub' : 'trusted_keys of the target';
}

export function assertTrustedSignature(headline: VerifiedHeadline, keys: NamedKeys): void {
  const found = signatureFlaw(headline, keys);
  if (found) throw new Problem(found.code, `Snapshot ${headline.id} ${found.flaw}`, { hint: found.hint });
}
