import type { DatabaseUrl } from '../../engines/database-url.ts';
import { parseUrl } from '../../engines/registry.ts';
import type { Context } from '../../runtime/context.ts';
import { configuredDestination } from '../load/configured-destination.ts';

/** Returns the configured destination; `null` where there is none that can be read: the row of the target says why. */
export function destinationUrl({ configuration }: Context, target: string): DatabaseUrl | null {
  try {
    const chosen = configuredDestination(configuration, target);
    return chosen ? parseUrl(chosen.text) : null;
  } catch {
    return null;
  }
}
