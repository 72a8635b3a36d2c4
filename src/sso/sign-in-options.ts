/** Time for the browser, in milliseconds. */
export const SIGN_IN_TIMEOUT_MS = 5 * 60_000;

export interface SignInPrompt {
  url: string;
  /** The code to compare or type; `null` where the browser returns by itself. */
  user_code: string | null;
}

export interface SignInOptions {
  signal: AbortSignal;
  show: (prompt: SignInPrompt) => void;
  openBrowser: ((url: string) => Promise<void>) | null;
}
