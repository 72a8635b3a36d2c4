import type { UserError } from '../../src/errors.ts';

/** What a place has that is looked up while it is shown. */
export interface LookedUp<Found> {
  /** `null` until it is there. */
  found: Found | null;
  error: UserError | null;
  /** Ends the looking up when one goes away; also tells one such place from another. */
  controller: AbortController;
}

export function notLookedUp<Found>(): LookedUp<Found> {
  return { found: null, error: null, controller: new AbortController() };
}
