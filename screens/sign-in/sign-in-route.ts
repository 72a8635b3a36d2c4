import type { SignedIn } from '../../src/results/cloud-results.ts';
import type { SignInEvent } from '../../src/results/events.ts';
import type { UserError } from '../../src/runtime/errors.ts';

declare module '../app/route.ts' {
  interface Routes {
    'sign-in': SignInRoute;
  }
}

export interface SignInRoute {
  screen: 'sign-in';
  /** The chosen one; without it the only one there is. */
  provider: string | undefined;
  /** The URL and code to sign in with; `null` until the provider has answered. */
  prompt: SignInEvent | null;
  /** The URL as a QR code, a line each. */
  qr: string[];
  result: SignedIn | null;
  error: UserError | null;
  /** Ends the sign-in when the user leaves. */
  controller: AbortController;
}
