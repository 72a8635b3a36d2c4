import { findDaemon } from '../../../process/docker-daemon.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { OpenedPlace, PlaceOptions, ScratchPlace } from '../../facets/sanitize.ts';
import { ENGINE_PROFILES, type EngineId } from '../../list.ts';

export interface ScratchPlacesRequest {
  engine: EngineId;
  destination: DatabaseUrl | null;
  withDatabase: (url: DatabaseUrl, database: string) => DatabaseUrl;
  servers: (context: EngineContext) => Promise<Starter[]>;
}

export interface Starter {
  name: string;
  start(context: EngineContext, options?: PlaceOptions): Promise<OpenedPlace>;
}

/**
 * Places for a temporary database, the best first: a throw-away server, a container of the configured image, the
 * server of the destination.
 */
export async function scratchPlacesOf(context: EngineContext, request: ScratchPlacesRequest): Promise<ScratchPlace[]> {
  const { destination, servers, withDatabase } = request;
  const starters = await servers(context).catch((): Starter[] => []);
  context.signal.throwIfAborted();
  const places = starters.map(({ name, start }): ScratchPlace => {
    return { label: `a throw-away ${name} server`, server: null, open: start };
  });
  const container = await placeInContainer(context, request);
  if (container) places.push(container);
  if (destination) {
    // The restore creates a shadow database beside it, and sweeps those of killed runs.
    const url = withDatabase(destination, `${destination.database ?? ''}${SUFFIX}`);
    places.push({
      label: `a throw-away database on the server of ${destination.display}`,
      server: url,
      open: async () => ({ url, [Symbol.asyncDispose]: async () => {} }),
    });
  }
  return places;
}

/** Separates these databases from those of loads into the destination. */
const SUFFIX = '.tool-sanitize';

/** The server ends with its container. Ports in a virtual machine are not reachable. */
async function placeInContainer(
  context: EngineContext,
  { engine, servers }: ScratchPlacesRequest,
): Promise<ScratchPlace | null> {
  if (!context.containers?.(engine)) return null;
  const daemon = await findDaemon(context.runner).catch(() => null);
  context.signal.throwIfAborted();
  if (!daemon || daemon.isVirtual) return null;
  return {
    label: `a throw-away server in a container of docker.images.${engine}`,
    server: null,
    async open(running, options) {
      const runner = running.containers?.(engine, 'server') ?? running.runner;
      const inside = { ...running, runner };
      const [starter] = await servers(inside);
      if (!starter) throw noServer(engine);
      return starter.start(inside, options);
    },
  };
}

function noServer(engine: EngineId): UserError {
  return new UserError('server_missing', `The image of docker.images.${engine} holds no server programs`, {
    hint: `Take an image of the database itself, such as ${ENGINE_PROFILES.map(({ defaultImage }) => defaultImage).join(' or ')}.`,
  });
}
