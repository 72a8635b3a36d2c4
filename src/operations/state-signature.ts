import { sign, verify } from 'node:crypto';
import { signingKey } from '../config/signing-key.ts';
import { canonicalText } from '../repository/manifest/signature.ts';
import type { Context } from '../runtime/context.ts';

interface SignedState {
  /** Words for what is stated: a signature is invalid in any other context. */
  purpose: string;
  content: Record<string, unknown>;
}

/**
 * Signs what a run keeps in the working directory for later ones, by the user's signing key, which is in another folder:
 * who writes to the working directory alone is not believed. Throws where no key can be kept.
 */
export async function signState({ environment }: Pick<Context, 'environment'>, state: SignedState): Promise<string> {
  return sign(null, signedText(state), await signingKey(environment)).toString('base64');
}

export async function isSignedState(
  { environment }: Pick<Context, 'environment'>,
  { signature, ...state }: SignedState & { signature: string },
): Promise<boolean> {
  return verify(null, signedText(state), await signingKey(environment), Buffer.from(signature, 'base64'));
}

function signedText({ purpose, content }: SignedState): Buffer {
  return Buffer.from(`tool ${purpose} 1\n${canonicalText(content)}`);
}
