import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ScratchPlace } from '../../facets/sanitize.ts';
import { scratchPlacesOf } from '../../shared/server/scratch-places.ts';
import { parsePostgresUrl, withDatabase } from '../connection/url.ts';
import { findServerPrograms } from '../server/server-programs.ts';
import { startThrowAwayServer } from '../server/throw-away-server.ts';

const DATABASE = 'sanitize';

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
            return { url: parsePostgresUrl(server.url(DATABASE)), [Symbol.asyncDispose]: server.stop };
          },
        },
      ];
    },
  });
}
