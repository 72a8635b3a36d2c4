import { unlessAborted } from '../process/unless-aborted.ts';
import { signInByBrowser } from './browser-sign-in.ts';
import { offersDevices, signInByDevice } from './device-sign-in.ts';
import { signInFailure } from './failures.ts';
import { openProvider, type ProviderRequest } from './provider.ts';
import { type SignInSession, sessionOf } from './session.ts';
import { SIGN_IN_TIMEOUT_MS, type SignInOptions } from './sign-in-options.ts';
import { withUserInfo } from './user-info.ts';

export interface ProviderSignInRequest extends SignInOptions {
  provider: ProviderRequest;
  /** Uses a device code; automatic without a browser, where the provider supports it. */
  device: boolean;
  clock: () => Date;
  /** In milliseconds. Default: `SIGN_IN_TIMEOUT_MS`. */
  timeoutMs?: number;
}

/** Signs a person in. Stores nothing. */
export async function signInAtProvider(request: ProviderSignInRequest): Promise<SignInSession> {
  const { provider: wanted, device, clock, timeoutMs = SIGN_IN_TIMEOUT_MS, ...options } = request;
  const provider = await unlessAborted(openProvider(wanted), options.signal);
  const timeout = AbortSignal.timeout(timeoutMs);
  const patient = { ...options, signal: AbortSignal.any([options.signal, timeout]) };
  const byDevice = device || (options.openBrowser === null && offersDevices(provider));
  try {
    const tokens = await (byDevice ? signInByDevice : signInByBrowser)(provider, patient);
    if (tokens.id_token === undefined) throw signInFailure(wanted.name, 'token_not_valid', 'there is no ID token');
    return await withUserInfo(provider, sessionOf(tokens, clock()));
  } catch (thrown) {
    options.signal.throwIfAborted();
    throw timeout.aborted ? signInFailure(wanted.name, 'timed_out') : thrown;
  }
}
