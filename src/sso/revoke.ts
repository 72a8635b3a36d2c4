import { openProvider, type ProviderRequest } from './provider.ts';
import type { SignInSession } from './session.ts';

/** Revokes a session's tokens; `false` when the provider does not support it. */
export async function revoke(provider: ProviderRequest, session: SignInSession): Promise<boolean> {
  const { library, client } = await openProvider(provider);
  if (client.serverMetadata().revocation_endpoint === undefined) return false;
  const tokens = [session.refresh_token, session.access_token].filter((token) => token !== null);
  for (const token of tokens) await library.tokenRevocation(client, token);
  return true;
}
