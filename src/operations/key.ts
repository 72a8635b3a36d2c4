import { signingKey, signingKeyFile } from '../config/signing-key.ts';
import { publicKeyText } from '../repository/manifest/signature.ts';
import type { OwnKey } from '../results/configuration/configuration-results.ts';

/** The key by which this machine signs snapshots; made when there is none yet. */
export async function ownKey(environment: NodeJS.ProcessEnv): Promise<OwnKey> {
  return { public_key: publicKeyText(await signingKey(environment)), file: signingKeyFile(environment) };
}
