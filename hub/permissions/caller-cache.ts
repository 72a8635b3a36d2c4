import { callerWith } from '../database/callers/tokens.ts';
import type { Database } from '../database/database.ts';
import type { CallerCache } from '../hub.ts';
import type { HubSettings } from '../settings/settings.ts';
import type { Caller } from './access.ts';

/** A revocation takes effect after so many milliseconds at most. */
const REMEMBERED = 10_000;

const MOST_CALLERS = 10_000;

/** Remembers whose a token is, so that a list costs one query. Refused tokens are not remembered. */
export function createCallerCache(db: Database, settings: HubSettings): CallerCache {
  const known = new Map<string, { caller: Caller; until: number }>();
  return {
    async find(token) {
      const now = Date.now();
      const entry = known.get(token);
      if (entry && entry.until > now && entry.caller.expiresAt.getTime() > now) return entry.caller;
      const caller = await callerWith(db, token, settings);
      if (known.size >= MOST_CALLERS) known.clear();
      if (caller) known.set(token, { caller, until: now + REMEMBERED });
      else known.delete(token);
      return caller;
    },
    clear: () => known.clear(),
  };
}
