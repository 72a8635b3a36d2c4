import type { TokenEndpointResponse } from 'openid-client';
import { unlessAborted } from '../process/unless-aborted.ts';
import { UserError } from '../runtime/errors.ts';
import { toSignInFailure } from './failures.ts';
import type { Provider } from './provider.ts';
import type { SignInOptions } from './sign-in-options.ts';

export function offersDevices({ client }: Provider): boolean {
  return client.serverMetadata().device_authorization_endpoint !== undefined;
}

/** Device authorization (RFC 8628). */
export async function signInByDevice(
  provider: Provider,
  { show, signal }: SignInOptions,
): Promise<TokenEndpointResponse> {
  const { client, library, scope, name } = provider;
  if (!offersDevices(provider)) {
    throw new UserError('device_sign_in_missing', `The provider "${name}" does not support device codes`, {
      hint: 'Leave --device out, and open the printed URL in a browser on this machine.',
    });
  }
  try {
    const device = await library.initiateDeviceAuthorization(client, { scope });
    const { user_code, verification_uri, verification_uri_complete } = device;
    show({ url: verification_uri_complete ?? verification_uri, user_code });
    const signedIn = library.pollDeviceAuthorizationGrant(client, device, undefined, { signal });
    // The library checks the signal every five seconds only.
    return await unlessAborted(signedIn, signal);
  } catch (thrown) {
    signal.throwIfAborted();
    throw toSignInFailure(name, thrown);
  }
}
