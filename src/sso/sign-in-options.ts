export interface SignInPrompt {
  /** Where the person signs in. */
  url: string;
  /** What to compare or type there; `null` where the browser comes back by itself. */
  user_code: string | null;
}

export interface SignInOptions {
  signal: AbortSignal;
  /** Tells the person where to go. */
  show: (prompt: SignInPrompt) => void;
  /** `null` where no browser can be opened. */
  openBrowser: ((url: string) => Promise<void>) | null;
}
