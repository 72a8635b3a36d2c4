import type { SignedIn } from '../../results/cloud-results.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, toUserError } from '../../runtime/errors.ts';
import { currentSession } from '../../sso/current-session.ts';
import type { ProviderRequest } from '../../sso/provider.ts';
import { personOf, type SignInSession } from '../../sso/session.ts';
import { createSessionStore } from '../../sso/session-store.ts';

/** Returns the signed-in user of each provider. Refreshes a session that is about to end. */
export async function signInStatus(context: Context): Promise<SignedIn[]> {
  const providers = Object.entries(context.configuration.settings.sso);
  return Promise.all(providers.map(([name, settings]) => statusOf(context, { name, settings })));
}

async function statusOf(context: Context, provider: ProviderRequest): Promise<SignedIn> {
  const { configuration, clock } = context;
  if (configuration.file === null) return signedIn(provider, null);
  const store = createSessionStore(configuration, context);
  try {
    return signedIn(provider, await currentSession({ provider, store, clock }));
  } catch (thrown) {
    const error = toUserError(thrown);
    if (error.exit !== EXIT.unreachable) throw thrown;
    return {
      ...signedIn(provider, await store.read(provider.name)),
      error: `${error.message}. ${error.hint ?? ''}`.trim(),
    };
  }
}

/** A session as it is shown: nothing of its tokens. */
export function signedIn({ name, settings }: ProviderRequest, session: SignInSession | null): SignedIn {
  const person = session && personOf(session, settings.groups_claim);
  return {
    provider: name,
    provider_url: settings.provider_url,
    signed_in: session !== null,
    subject: person?.subject ?? null,
    name: person?.name ?? null,
    groups: person?.groups ?? [],
    expires_at: session === null ? null : new Date(session.expires * 1000).toISOString(),
    refreshable: session?.refresh_token != null,
    error: null,
  };
}
