import { toSignInFailure } from './failures.ts';
import type { Provider } from './provider.ts';
import { claimsOf, GROUPS_CLAIM, type SignInSession } from './session.ts';

/** Reads the userinfo endpoint when the ID token has no groups: some providers list them only there. */
export async function withUserInfo(provider: Provider, session: SignInSession): Promise<SignInSession> {
  const { client, library, name, settings } = provider;
  const { groups_claim: groupsClaim = GROUPS_CLAIM } = settings;
  const claims = session.id_token === null ? null : claimsOf(session.id_token);
  const isOffered = client.serverMetadata().userinfo_endpoint !== undefined;
  if (claims === null || claims[groupsClaim] !== undefined || session.user_info !== null || !isOffered) return session;
  try {
    // The library refuses claims about another person (OpenID Connect Core 1.0, section 5.3.2).
    const said = await library.fetchUserInfo(client, session.access_token, String(claims.sub));
    const kept = [groupsClaim, 'email', 'preferred_username', 'name'].map((claim) => [claim, said[claim]]);
    return { ...session, user_info: JSON.stringify(Object.fromEntries(kept)) };
  } catch (thrown) {
    throw toSignInFailure(name, thrown);
  }
}
