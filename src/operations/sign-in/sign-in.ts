import type { SignedIn } from '../../results/cloud-results.ts';
import type { Context } from '../../runtime/context.ts';
import { browserOf } from '../../sso/open-browser.ts';
import type { ProviderRequest } from '../../sso/provider.ts';
import type { SignInSession } from '../../sso/session.ts';
import { createSessionStore } from '../../sso/session-store.ts';
import { signInAtProvider } from '../../sso/sign-in.ts';
import type { SignInPrompt } from '../../sso/sign-in-options.ts';
import { findProvider } from './find-provider.ts';
import { signedIn } from './sign-in-status.ts';

export interface SignInRequest {
  /** Default the only one there is. */
  provider?: string | undefined;
  /** By a code that is typed on any machine. */
  device?: boolean;
}

/** Signs in, and stores the session. Nothing is stored of one that fails. */
export async function signIn(context: Context, { provider: name, device = false }: SignInRequest): Promise<SignedIn> {
  const provider = findProvider(context, name);
  const store = createSessionStore(context.configuration, context);
  const session = await openSession(context, provider, { device });
  await store.write(provider.name, session);
  return signedIn(provider, session);
}

/** Signs in with a provider by a browser or a code. Stores nothing. */
export function openSession(
  { report, signal, clock, environment }: Context,
  provider: ProviderRequest,
  { device }: { device: boolean },
): Promise<SignInSession> {
  const show = (prompt: SignInPrompt) => report({ event: 'sign_in', provider: provider.name, ...prompt });
  return signInAtProvider({ provider, device, clock, signal, show, openBrowser: browserOf(environment) });
}
