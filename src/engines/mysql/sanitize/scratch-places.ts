import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ScratchPlace } from '../../facets/sanitize.ts';
import { scratchPlacesOf } from '../../shared/server/scratch-places.ts';
import { LABELS } from '../catalog/introspect.ts';
import { withDatabase } from '../connection/url.ts';
import { findServerPrograms } from '../server/server-programs.ts';
import { SCRATCH, startThrowAwayServer, type ThrowAwayOptions } from '../server/throw-away-server.ts';

/** One of each installed flavour: a snapshot of one may not fit the other. */
export function scratchPlaces(context: EngineContext, destination: DatabaseUrl | null): Promise<ScratchPlace[]> {
  return scratchPlacesOf(context, {
    engine: 'mysql',
    destination,
    withDatabase,
    async servers(where) {
      const found = await findServerPrograms(where);
      return found.map((programs) => ({
        name: LABELS[programs.flavour],
        async start(running, { superuser = false }: ThrowAwayOptions = {}) {
          const server = await startThrowAwayServer(running, programs, { superuser });
          return { url: server.url(SCRATCH), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
        },
      }));
    },
  });
}
