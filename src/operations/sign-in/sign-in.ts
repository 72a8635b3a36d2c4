import type { SignedIn } from '../../results/cloud-results.ts';
import type { Context } from '../../runtime/context.ts';
import { browserOf } from '../../sso/open-browser.ts';
import { createSessionStore } from '../../sso/session-store.ts';
import { signInAtProvider } from '../../sso/sign-in.ts';
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
  const { configuration, report, signal, clock, environment } = context;
  const provider = findProvider(context, name);
  const store = createSessionStore(configuration, context);
  const session = await signInAtProvider({
    provider,
    device,
    clock,
    signal,
    show: (prompt) => report({ event: 'sign_in', provider: provider.name, ...prompt }),
    openBrowser: browserOf(environment),
  });
  await store.write(provider.name, session);
  return signedIn(provider, session);
}
