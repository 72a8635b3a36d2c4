import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ScratchPlace } from '../../facets/sanitize.ts';
import { scratchPlacesOf } from '../../shared/server/scratch-places.ts';
import { parsePostgresUrl, withDatabase } from '../connection/url.ts';
import { createPlainRole } from '../server/plain-role.ts';
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
          async start(running, { superuser = false } = {}) {
            const server = await startThrowAwayServer(running, { programs });
            const dispose = { [Symbol.asyncDispose]: server.stop };
            const admin = parsePostgresUrl(server.url(DATABASE));
            if (superuser) return { url: admin, ...dispose };
            try {
              const urlOf = await createPlainRole(running, server);
              return { url: parsePostgresUrl(urlOf(DATABASE)), admin, ...dispose };
            } catch (error) {
              await server.stop();
              throw error;
            }
          },
        },
      ];
    },
  });
}
