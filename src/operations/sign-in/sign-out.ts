import type { SignedOut } from '../../results/cloud-results.ts';
import type { Context } from '../../runtime/context.ts';
import { toUserError } from '../../runtime/errors.ts';
import { revoke } from '../../sso/revoke.ts';
import { createSessionStore } from '../../sso/session-store.ts';
import { findProvider } from './find-provider.ts';

/** Removes the sessions of a provider, or of all, and tells the provider so where it takes that. */
export async function signOut(
  context: Context,
  { provider: name }: { provider?: string | undefined },
): Promise<SignedOut[]> {
  const { configuration, report } = context;
  const { sso } = configuration.settings;
  const providers =
    name === undefined
      ? Object.entries(sso).map(([key, settings]) => ({ name: key, settings }))
      : [findProvider(context, name)];
  const store = createSessionStore(configuration, context);
  const ended: SignedOut[] = [];
  for (const provider of providers) {
    const session = await store.read(provider.name);
    if (session === null) continue;
    // Removed first: the sign-out also works when the provider is unreachable.
    await store.remove(provider.name);
    const revoked = await revoke(provider, session).catch((thrown) => {
      const message = `Signed out locally, but not at "${provider.name}": ${toUserError(thrown).message}`;
      report({ event: 'warning', code: 'sign_out_not_told', message });
      return false;
    });
    ended.push({ provider: provider.name, revoked });
  }
  return ended;
}
