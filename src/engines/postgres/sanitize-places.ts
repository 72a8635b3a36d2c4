import type { DatabaseUrl, EngineContext } from '../engine.ts';
import type { ScratchPlace } from '../sanitizer.ts';
import { findServerPrograms } from './server-programs.ts';
import { startThrowAwayServer } from './throw-away-server.ts';
import { parsePostgresUrl, withDatabase } from './url.ts';

/** A server of our own where its programs are found; else a database on the server that snapshots are loaded into. */
export async function scratchPlaces(context: EngineContext, destination: DatabaseUrl | null): Promise<ScratchPlace[]> {
  const programs = await findServerPrograms(context).catch(() => null);
  const places: ScratchPlace[] = [];
  if (programs) {
    places.push({
      label: 'a throw-away server of our own',
      async open(running) {
        const server = await startThrowAwayServer(running, { programs });
        const url = parsePostgresUrl(server.url('sanitize'));
        return { url, [Symbol.asyncDispose]: server.stop };
      },
    });
  }
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
