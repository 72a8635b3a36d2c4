import type { DatabaseUrl, EngineContext } from '../../engine.ts';
import type { ScratchPlace } from '../../sanitizer.ts';
import { scratchPlacesOf } from '../../scratch-places.ts';
import { parsePostgresUrl, withDatabase } from '../connection/url.ts';
import { findServerPrograms } from '../server-programs.ts';
import { startThrowAwayServer } from '../throw-away-server.ts';

export function scratchPlaces(context: EngineContext, destination: DatabaseUrl | null): Promise<ScratchPlace[]> {
  return scratchPlacesOf(context, {
    engine: 'postgres',
    destination,
    withDatabase,
    async servers(where) {
      const programs = await findServerPrograms(where);
      return [
        {
          name: 'PostgreSQL',
          async start(running) {
            const server = await startThrowAwayServer(running, { programs });
            return { url: parsePostgresUrl(server.url('sanitize')), [Symbol.asyncDispose]: server.stop };
          },
        },
      ];
    },
  });
}
