import type { KeyObject } from 'node:crypto';
import { signingKey } from '../../config/signing-key.ts';
import type { Headline, VerifiedHeadline } from '../../repository/headlines/headline.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import { publicKeyText, signManifest, verifyManifest } from '../../repository/manifest/signature.ts';
import type { SnapshotRow, SnapshotSignature } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { shell } from '../../text/shell-word.ts';

/** Signs the manifest of a new snapshot. A machine that cannot keep a key builds all the same. */
export async function signed(
  { environment, report }: Pick<Context, 'environment' | 'report'>,
  manifest: Manifest,
): Promise<Manifest> {
  let key: KeyObject;
  try {
    key = await signingKey(environment);
  } catch (thrown) {
    if (!(thrown instanceof UserError)) throw thrown;
    const message = `Snapshot ${manifest.id} is not signed. ${thrown.message}`;
    report({ event: 'warning', code: 'snapshot_not_signed', message });
    return manifest;
  }
  return signManifest(manifest, key);
}

const INVALID = 'has a signature that does not match its manifest';

/** Permits a snapshot that is not signed by a trusted key. */
export interface TrustChoice {
  allowUntrusted?: boolean;
}

/** Throws `signature_invalid` for a signature that does not match its manifest. No setting and no option permits one. */
export function assertSignature(manifest: Manifest): void {
  if (verifyManifest(manifest).state !== 'invalid') return;
  throw new UserError('signature_invalid', `Snapshot ${manifest.id} of ${manifest.target} ${INVALID}`, {
    hint: `Its manifest was changed after the build. Remove it, and build a new one: ${shell`tool build ${manifest.target}`}`,
  });
}

/** The keys whose signatures count; `undefined` where every valid signature does. */
export function trustedKeysOf({ configuration }: Pick<Context, 'configuration'>): string[] | undefined {
  return configuration.settings.trusted_keys;
}

/** Throws for an invalid signature and, where `trusted_keys` is set, unless one of them has signed the manifest. */
export function assertTrusted(
  { configuration, report }: Pick<Context, 'configuration' | 'report'>,
  manifest: Manifest,
  { allowUntrusted = false }: TrustChoice,
): void {
  assertSignature(manifest);
  const keys = trustedKeysOf({ configuration });
  if (keys === undefined) return;
  const found = verifyManifest(manifest);
  if (found.state === 'valid' && keys.includes(found.key)) return;
  const why = {
    none: 'is not signed',
    invalid: INVALID,
    valid: `is signed by a key that is not in trusted_keys: ${'key' in found ? found.key : ''}`,
  }[found.state];
  const message = `Snapshot ${manifest.id} of ${manifest.target} ${why}`;
  if (allowUntrusted) {
    report({ event: 'warning', code: 'signature_untrusted', message });
    return;
  }
  throw new UserError('signature_untrusted', message, {
    hint: 'Add the key of the machine that built it (tool key prints it) to trusted_keys, or pass --allow-untrusted once.',
  });
}

/** Reports whether this machine has built the snapshot: only its key makes this signature. A dump may be of anybody. */
export async function isBuiltHere({ environment }: Pick<Context, 'environment'>, manifest: Manifest): Promise<boolean> {
  const found = verifyManifest(manifest);
  if (found.state !== 'valid' || manifest.dump !== undefined) return false;
  const own = await signingKey(environment).catch(() => null);
  return own !== null && found.key === publicKeyText(own);
}

/**
 * Reports whether the data of a snapshot counts as sanitized: its manifest claims it, without a signature or with a valid
 * one, and with one of the trusted keys where they are named.
 */
export function isSanitized({ sanitized, signature }: VerifiedHeadline, trustedKeys: string[] | undefined): boolean {
  if (!sanitized || signature?.state === 'invalid') return false;
  return trustedKeys === undefined || (signature?.state === 'valid' && trustedKeys.includes(signature.key));
}

/** The signature as lists and plans show it. */
export function shownSignature(signature: Headline['signature'], trustedKeys: string[] | undefined): SnapshotSignature {
  if (signature === undefined) return { state: 'none', key: null };
  const { state, key } = signature;
  if (state !== 'valid' || trustedKeys === undefined) return { state, key };
  return { state: trustedKeys.includes(key) ? 'trusted' : 'untrusted', key };
}

/** The same of a manifest that was read. */
export function signatureOf(manifest: Manifest, trustedKeys: string[] | undefined): SnapshotRow['signature'] {
  const found = verifyManifest(manifest);
  return shownSignature(found.state === 'none' ? undefined : found, trustedKeys);
}
