import type { DatabaseUrl } from '../../engines/database-url.ts';
import { parseUrl } from '../../engines/registry.ts';
import type { Context } from '../../runtime/context.ts';
import { createAddressComparison } from '../load/guard/guard.ts';

/** Reports whether the URL of an entry leads to the database. */
export type LeadsTo = (to: string | null) => Promise<boolean>;

/** Creates a test for URLs of the history, which may name the host of this database otherwise. */
export function createLeadsTo(context: Context, url: DatabaseUrl): LeadsTo {
  const isSame = createAddressComparison(context, url);
  const known = new Map<string, Promise<boolean>>();
  return async (to) => {
    if (to === null || to === url.display) return to !== null;
    const found = known.get(to) ?? compare(to, isSame);
    known.set(to, found);
    context.signal.throwIfAborted();
    return found;
  };
}

/** A URL that cannot be read or resolved any more leads nowhere. */
async function compare(to: string, isSame: (url: DatabaseUrl) => Promise<boolean>): Promise<boolean> {
  try {
    return await isSame(parseUrl(to));
  } catch {
    return false;
  }
}
