import { signingKey, signingKeyFile } from '../config/signing-key.ts';
import { publicKeyText } from '../repository/signature.ts';

export interface OwnKey {
  /** The public key, in the form of `trusted_keys`. */
  public_key: string;
  /** Path of the private key. */
  file: string;
}

/** The key by which this machine signs snapshots; made when there is none yet. */
export async function ownKey(environment: NodeJS.ProcessEnv): Promise<OwnKey> {
  return { public_key: publicKeyText(await signingKey(environment)), file: signingKeyFile(environment) };
}
