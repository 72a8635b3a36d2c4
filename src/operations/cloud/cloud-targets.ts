import type { CloudTarget } from '../../cloud/contract/schemas.ts';
import { type CachedTargets, cachedTargets, fetchTargets, removeCache } from '../../cloud/target-cache.ts';
import { apiEndpoint } from '../../config/api-endpoint.ts';
import type { TargetSettings } from '../../config/schema/settings.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, toUserError } from '../../runtime/errors.ts';
import { formatTime } from '../../text/format.ts';
import { openCloud } from './open-cloud.ts';

/** The configuration with the targets of the hub, as they are known on this machine: no network. */
export async function withCachedTargets(context: Context): Promise<Context> {
  const options = cacheOptions(context);
  const cached = options && (await cachedTargets(options));
  return cached ? withTargets(context, cached.targets) : context;
}

/** The same after asking the hub; from the cache, with a warning, when it cannot be reached. */
export async function withCloudTargets(context: Context): Promise<Context> {
  const options = cacheOptions(context);
  if (options === null) return context;
  try {
    const client = await openCloud(context, { impatient: true });
    const { targets } = await fetchTargets(client, options, context.clock());
    return withTargets(context, targets, { warn: true });
  } catch (thrown) {
    context.signal.throwIfAborted();
    const error = toUserError(thrown);
    if (error.exit !== EXIT.unreachable) throw error;
    const isRefused = error.code === 'cloud_token_refused';
    if (isRefused) await removeCache(options.directory);
    const cached = await cachedTargets(options);
    context.report({
      event: 'warning',
      code: isRefused ? error.code : 'cloud_unreachable',
      message: shown(error.message, cached),
    });
    return cached ? withTargets(context, cached.targets) : context;
  }
}

function shown(message: string, cached: CachedTargets | null): string {
  return cached
    ? `${message}. Showing its targets as of ${formatTime(cached.at)}`
    : `${message}. Showing local targets only`;
}

/** `null` in local mode, and where no address of a hub is set. */
function cacheOptions({ configuration: { settings } }: Context) {
  const { authtoken: token, working_directory: directory } = settings;
  if (token === undefined) return null;
  try {
    return { token, directory, endpoint: apiEndpoint(settings) };
  } catch {
    return null;
  }
}

/** A target of the file wins over one of the hub. */
function withTargets(context: Context, targets: CloudTarget[], { warn = false } = {}): Context {
  const { configuration } = context;
  const local = configuration.settings.targets;
  const cloud = new Map<string, CloudTarget>();
  for (const target of targets) {
    if (!Object.hasOwn(local, target.name) || configuration.cloud?.has(target.name)) cloud.set(target.name, target);
    else if (warn) {
      const message = `Target "${target.name}" is in the file and on the hub: the one of the file is used`;
      context.report({ event: 'warning', code: 'target_in_both', message });
    }
  }
  const added = [...cloud].map(([name, { settings }]): [string, TargetSettings] => {
    const title = typeof settings.name === 'string' ? settings.name : undefined;
    // Databases are chosen on this machine: what the hub says of them is not connected to.
    return [name, { ...(title !== undefined && { name: title }), share: {} }];
  });
  const own = Object.entries(local).filter(([name]) => !configuration.cloud?.has(name));
  const settings = { ...configuration.settings, targets: Object.fromEntries([...own, ...added]) };
  return { ...context, configuration: { ...configuration, settings, cloud } };
}
