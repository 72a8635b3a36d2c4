import type { Configuration } from '../../../config/configuration.ts';
import { connectionUrl } from '../../../config/urls/connection-url.ts';
import { containerRunners } from '../../../engines/containers.ts';
import type { EngineContext } from '../../../engines/engine-context.ts';
import { engineForUrl, parseUrl } from '../../../engines/registry.ts';
import type { SanitizePlaceReport } from '../../../results/configuration/configuration-results.ts';
import { EXIT, toUserError } from '../../../runtime/errors.ts';
import { chosenQuery } from '../../../sanitize/query.ts';
import { configuredDestination } from '../../load/configured-destination.ts';

/** For each target with a query: its destination, or which throw-away place it would be. No database is asked. */
export async function reportSanitizePlaces(
  context: EngineContext,
  configuration: Configuration,
): Promise<SanitizePlaceReport[]> {
  const { settings } = configuration;
  const { runner: local, environment, signal, report } = context;
  const images = settings.docker.images ?? {};
  const containers = containerRunners({ images, local, environment, report, signal, workFolders: [] });
  const targets = Object.entries(settings.targets).filter(
    ([target, { sanitize, snapshot }]) =>
      sanitize !== undefined || (snapshot?.src_url !== undefined && chosenQuery(configuration, target) !== null),
  );
  const reports = await Promise.all(
    targets.map(async ([target]): Promise<SanitizePlaceReport | null> => {
      const none = { target, place: null, throw_away: false };
      if (chosenQuery(configuration, target) === null) return { ...none, error: NO_QUERY };
      try {
        const found = await placeOf({ ...context, containers }, { configuration, target });
        return found ? { target, ...found, error: null } : { ...none, error: NOWHERE };
      } catch (thrown) {
        signal.throwIfAborted();
        const { exit, message } = toUserError(thrown);
        // What is wrong with the configuration is told where it stands.
        return exit === EXIT.configuration ? null : { ...none, error: message };
      }
    }),
  );
  return reports.filter((one) => one !== null);
}

const NO_QUERY = 'it has no sanitization query (sanitize.query_file)';

const NOWHERE = 'nowhere: there is no dst_url, and no server could be started';

async function placeOf(
  context: EngineContext,
  { configuration, target }: { configuration: Configuration; target: string },
): Promise<Pick<SanitizePlaceReport, 'place' | 'throw_away'> | null> {
  const urlOf = (key: string): string | undefined => connectionUrl(configuration, `targets.${target}.${key}`);
  const own = urlOf('sanitize.dst_url');
  if (own !== undefined) return { place: parseUrl(own).display, throw_away: false };
  const loadsInto = configuredDestination(configuration, target)?.text;
  const known = loadsInto ?? urlOf('snapshot.src_url');
  if (known === undefined) return null;
  const engine = engineForUrl(known);
  const destination = loadsInto === undefined ? null : engine.parseUrl(loadsInto);
  const [place] = await engine.scratchPlaces(context, destination);
  return place ? { place: place.label, throw_away: true } : null;
}
