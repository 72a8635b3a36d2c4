import { isAllowedDestination } from '../../config/allowed-destinations.ts';
import { connectionUrl } from '../../config/connection-url.ts';
import type { Context } from '../../context.ts';
import type { DatabaseUrl } from '../../engines/engine.ts';
import { engineForUrl } from '../../engines/registry.ts';
import { EXIT, UserError } from '../../errors.ts';

/** How long a source may take to say who it is; its address is compared whether it answers or not. */
const IDENTIFY_TIMEOUT = 5000;

/** The sources of which no snapshot may ever take the place. */
const SOURCES = ['snapshot.src_url', 'subset.src_url'];

/**
 * Refuses a destination that is the source of any target, whatever the spelling of its host. A source whose owner
 * allows the loaded target is a warning.
 */
export async function refuseSources(context: Context, destination: DatabaseUrl, loaded?: string): Promise<void> {
  const { configuration, report } = context;
  const timeout = AbortSignal.timeout(IDENTIFY_TIMEOUT);
  const signal = AbortSignal.any([context.signal, timeout]);
  const isDestination = engineForUrl(`${destination.engine}://`).sameDatabaseAs({ ...context, signal }, destination);
  await Promise.all(
    Object.keys(configuration.settings.targets).flatMap((target) =>
      SOURCES.map(async (field) => {
        const source = sourceOf(context, `targets.${target}.${field}`);
        if (!source || source.engine !== destination.engine) return;
        const same = await isDestination(source).catch((thrown) => {
          if (!timeout.aborted) throw thrown;
          const message = `The source of "${target}" did not say in time who it is: it was compared with the destination by its address only`;
          report({ event: 'warning', code: 'guard_incomplete', message });
          return false;
        });
        if (!same) return;
        if (loaded === undefined || !isAllowedDestination(configuration.settings, { loaded, owner: target })) {
          throw isSource({ owner: target, loaded, destination });
        }
        const message = `${destination.display} is the source of target "${target}", whose allow_destination_of names "${loaded}"`;
        report({ event: 'warning', code: 'destination_allowed', message });
      }),
    ),
  );
  context.signal.throwIfAborted();
}

function sourceOf(context: Context, key: string): DatabaseUrl | null {
  try {
    const text = connectionUrl(context.configuration, key);
    return text === undefined ? null : engineForUrl(text).parseUrl(text);
  } catch {
    // Nobody can have put the destination's name into a URL that cannot be filled in or read.
    const message = `${key} cannot be filled in, so the destination could not be compared with it`;
    context.report({ event: 'warning', code: 'guard_incomplete', message });
    return null;
  }
}

function isSource({ owner, loaded, destination }: Refused): UserError {
  return new UserError(`${destination.display} is the source of target "${owner}": nothing is loaded into a source`, {
    code: 'destination_is_source',
    exit: EXIT.refused,
    hint:
      loaded === undefined || owner === loaded
        ? 'Choose another destination: dst_url in the configuration, or --destdb.'
        : `Choose another destination: dst_url in the configuration, or --destdb. If "${owner}" is to be filled by "${loaded}", set targets.${owner}.allow_destination_of: [${loaded}].`,
  });
}

interface Refused {
  owner: string;
  loaded: string | undefined;
  destination: DatabaseUrl;
}
