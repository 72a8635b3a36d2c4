import type { TokenEndpointResponse } from 'openid-client';
import { unlessAborted } from '../process/unless-aborted.ts';
import { DEFAULT_REDIRECT_URL, listenForCallback } from './callback-listener.ts';
import { toSignInFailure } from './failures.ts';
import type { Provider } from './provider.ts';
import type { SignInOptions } from './sign-in-options.ts';

/** Authorization code with PKCE (RFC 7636, RFC 8252). */
export async function signInByBrowser(provider: Provider, options: SignInOptions): Promise<TokenEndpointResponse> {
  const { client, library, scope, settings } = provider;
  const { signal, show, openBrowser } = options;
  const [verifier, state, nonce] = [library.randomPKCECodeVerifier(), library.randomState(), library.randomNonce()];
  await using listener = await listenForCallback(settings.redirect_url ?? DEFAULT_REDIRECT_URL, { state, signal });
  const url = library.buildAuthorizationUrl(client, {
    redirect_uri: listener.redirectUrl,
    scope,
    code_challenge: await library.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    // Without `consent` a provider need not issue a refresh token (OpenID Connect Core 1.0, section 11).
    ...(scope.includes('offline_access') && { prompt: 'consent' }),
  });
  show({ url: url.href, user_code: null });
  await openBrowser?.(url.href);

  const { url: answered, answer } = await listener.callback;
  try {
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
    const tokens = await unlessAborted(library.authorizationCodeGrant(client, answered, checks), signal);
    await answer();
    return tokens;
  } catch (thrown) {
    const failure = toSignInFailure(provider.name, thrown);
    await answer(failure.message);
    throw failure;
  }
}
