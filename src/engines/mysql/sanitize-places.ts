import type { DatabaseUrl, EngineContext } from '../engine.ts';
import type { ScratchPlace } from '../sanitizer.ts';
import { withDatabase } from './url.ts';

/** A database on the server that snapshots are loaded into. */
export async function scratchPlaces(_context: EngineContext, destination: DatabaseUrl | null): Promise<ScratchPlace[]> {
  const places: ScratchPlace[] = [];
  if (destination) {
    // Beside it the restore makes a database of a random name, and sweeps those of runs that were killed.
    const url = withDatabase(destination, `${destination.database ?? ''}${SUFFIX}`);
    places.push({
      label: `a throw-away database on the server of ${destination.display}`,
      open: async () => ({ url, [Symbol.asyncDispose]: async () => {} }),
    });
  }
  return places;
}

/** Keeps throw-away databases apart from those of loads into the destination. */
const SUFFIX = '.tool-sanitize';
