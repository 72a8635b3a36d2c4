import type { Configuration } from 'openid-client';
import * as client from 'openid-client';
import { printable } from '../../src/text/printable.ts';
import { Problem } from '../problem.ts';
import type { HubSettings } from '../settings/settings.ts';
import { unavailable } from '../sign-in/id-tokens.ts';

interface Checks {
  state: string;
  nonce: string;
  verifier: string;
}

/** The provider as the pages use it: a web client, public or confidential. */
export interface PagesProvider {
  clientId: string;
  begin(redirectUrl: string): Promise<Checks & { url: string }>;
  /** `url`: where the provider led to. Throws `cloud_token_refused`, `not_permitted` or `cloud_unavailable`. */
  end(given: Checks & { url: string }): Promise<{ id_token: string; access_token: string }>;
}

/** Seconds. */
const TIMEOUT = 8;

const LATER = 'Try again later.';

const SCOPES = ['openid', 'profile', 'email', 'groups'];

/** `null` for a trial without a provider. */
export function createPagesProvider({ signIn, pages }: HubSettings): PagesProvider | null {
  if (signIn === null || pages === null) return null;
  const { clientId, clientSecret } = pages;
  let discovered: Promise<Configuration> | null = null;
  const discover = (): Promise<Configuration> => {
    const url = new URL(signIn.provider_url);
    const execute = [client.enableNonRepudiationChecks];
    if (url.protocol === 'http:') execute.push(client.allowInsecureRequests);
    const authentication = clientSecret === null ? client.None() : client.ClientSecretBasic(clientSecret);
    discovered ??= client.discovery(url, clientId, undefined, authentication, { execute, timeout: TIMEOUT });
    // A failure is not remembered.
    discovered.catch(() => {
      discovered = null;
    });
    return discovered.catch((error: unknown) => {
      throw unavailable(url.host, error, LATER);
    });
  };
  return {
    clientId,
    async begin(redirectUrl) {
      const configuration = await discover();
      const offered = configuration.serverMetadata().scopes_supported;
      const [verifier, state, nonce] = [client.randomPKCECodeVerifier(), client.randomState(), client.randomNonce()];
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUrl,
        scope: SCOPES.filter((one) => one === 'openid' || (offered?.includes(one) ?? one !== 'groups')).join(' '),
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      });
      return { url: url.href, verifier, state, nonce };
    },
    async end({ url, state, nonce, verifier }) {
      const configuration = await discover();
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
      try {
        const tokens = await client.authorizationCodeGrant(configuration, new URL(url), checks);
        return { id_token: tokens.id_token ?? '', access_token: tokens.access_token };
      } catch (error) {
        throw failure(new URL(signIn.provider_url).host, error);
      }
    },
  };
}

function failure(host: string, error: unknown): Problem {
  if (error instanceof client.AuthorizationResponseError) {
    const said = printable(error.error_description ?? error.error).slice(0, 200);
    return new Problem('not_permitted', `${host} refused the sign-in: ${said}`, { hint: 'Sign in again.' });
  }
  // No answer, or none in time: the sign-in itself may be valid.
  if (error instanceof TypeError || (error as { code?: string }).code === 'OAUTH_TIMEOUT')
    return unavailable(host, error, LATER);
  if (error instanceof client.ResponseBodyError && error.error === 'invalid_client') {
    const hint = 'The operator of the hub checks TOOL_HUB_PAGES_CLIENT_ID and TOOL_HUB_PAGES_CLIENT_SECRET.';
    return new Problem('cloud_unavailable', `${host} does not accept the hub as a client`, { hint, cause: error });
  }
  return new Problem('cloud_token_refused', 'The sign-in is not valid, or was completed before', {
    hint: 'Sign in again.',
  });
}
