import type { ErrorCode } from '../runtime/error-codes.ts';
import { UserError } from '../runtime/errors.ts';
import { printable } from '../text/printable.ts';

interface Failure {
  code: ErrorCode;
  /** Completes `Signing in with "idp" failed: `. */
  why: string;
  hint: string;
}

const AGAIN = 'Sign in again: tool auth login';

/** The provider's errors (RFC 6749, RFC 8628) and failed validations. */
const FAILURES = {
  denied: { code: 'sign_in_denied', why: "it was denied on the provider's page", hint: AGAIN },
  timed_out: { code: 'sign_in_timed_out', why: 'it took too long', hint: AGAIN },
  client_refused: {
    code: 'sign_in_client_refused',
    why: 'the provider does not know this client, or does not let it sign in so',
    hint: 'Compare client_id and redirect_url in the configuration with the registration at the provider.',
  },
  code_refused: {
    code: 'sign_in_code_refused',
    why: 'the provider rejected the code of this sign-in',
    hint: AGAIN,
  },
  token_not_valid: {
    code: 'sign_in_token_not_valid',
    why: 'the response of the provider is not valid',
    hint: 'Check provider_url, client_id and the clock of this machine.',
  },
  refused: { code: 'sign_in_refused', why: 'the provider refused it', hint: AGAIN },
  unreachable: {
    code: 'provider_unreachable',
    why: 'the provider cannot be reached',
    hint: 'Check provider_url and the network.',
  },
  not_https: {
    code: 'provider_not_https',
    why: 'its provider_url or an address that it names is not https',
    hint: 'Tokens are sent over https only, except to a provider on this machine.',
  },
} satisfies Record<string, Failure>;

const BY_PROVIDER: Record<string, keyof typeof FAILURES> = {
  access_denied: 'denied',
  expired_token: 'timed_out',
  invalid_client: 'client_refused',
  unauthorized_client: 'client_refused',
  invalid_grant: 'code_refused',
};

const BY_CHECK: Record<string, keyof typeof FAILURES> = {
  OAUTH_TIMEOUT: 'unreachable',
  OAUTH_HTTP_REQUEST_FORBIDDEN: 'not_https',
  OAUTH_RESPONSE_IS_NOT_CONFORM: 'unreachable',
  OAUTH_RESPONSE_IS_NOT_JSON: 'unreachable',
  OAUTH_WWW_AUTHENTICATE_CHALLENGE: 'refused',
};

/** Keeps no cause, because a cause may contain tokens. */
export function signInFailure(provider: string, failure: keyof typeof FAILURES, said?: string): UserError {
  const { code, why, hint } = FAILURES[failure];
  const details = said === undefined ? [] : [said];
  return new UserError(code, `Signing in with "${provider}" failed: ${why}`, { hint, details });
}

export function toSignInFailure(provider: string, thrown: unknown): UserError {
  if (thrown instanceof UserError) return thrown;
  const { error, error_description: description, code, name, message, cause } = thrown as ThrownError;
  if (typeof error === 'string') {
    const said = readable([error, description].filter(Boolean).join(': '));
    return signInFailure(provider, BY_PROVIDER[error] ?? 'refused', said);
  }
  if (name === 'TimeoutError') return signInFailure(provider, 'unreachable', 'timed out');
  if (name === 'TypeError' && message === 'fetch failed') {
    return signInFailure(provider, 'unreachable', readable(String((cause as ThrownError)?.code ?? message)));
  }
  const known = code === undefined ? undefined : BY_CHECK[code];
  const why = [message, (cause as ThrownError)?.message].filter(
    (part) => typeof part === 'string' && part.length < 200,
  );
  return signInFailure(provider, known ?? 'token_not_valid', readable(why.join(': ')));
}

interface ThrownError {
  name: string;
  message: string;
  code?: string;
  error?: unknown;
  error_description?: string;
  cause?: unknown;
}

/** Control characters are removed and the length is limited. */
function readable(text: string): string {
  return printable(text).slice(0, 300);
}
