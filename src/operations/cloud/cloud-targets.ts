import type { CloudTarget } from '../../cloud/contract/resources.ts';
import { type CachedTargets, cachedTargets, fetchTargets, removeCache } from '../../cloud/target-cache.ts';
import type { HubState } from '../../results/cloud-results.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, toUserError } from '../../runtime/errors.ts';
import { formatTime } from '../../text/format.ts';
import { hasHub, hubAddress } from './has-hub.ts';
import { openCloud } from './open-cloud.ts';
import { cloudSettings, targetIn } from './target-settings.ts';

/** The configuration with the targets of the hub, as they are known on this machine: no network. */
export async function withCachedTargets(context: Context): Promise<Context> {
  const options = cacheOptions(context);
  const cached = options && (await cachedTargets(options));
  return cached ? withTargets(context, cached.targets) : context;
}

/**
 * The same, with the current settings of this target from the hub unless the file has it: a command may name a target
 * that was never listed on this machine. From the cache, with a warning, when the hub is unreachable.
 */
export async function withNamedTarget(given: Context, name: string): Promise<Context> {
  const context = await withCachedTargets(given);
  const { cloud, settings } = context.configuration;
  const isLocal = Object.hasOwn(settings.targets, name) && !cloud?.has(name);
  if (isLocal || !hasHub(context)) return context;
  const others = [...(cloud?.values() ?? [])].filter((target) => target.name !== name);
  try {
    const client = await openCloud(context, { impatient: cloud?.has(name) ?? false });
    const { body } = await client.call('getTarget', { parameters: { name } });
    if (body?.name !== name) throw client.invalid('the response is for another target');
    return withTargets(context, [...others, body]);
  } catch (thrown) {
    context.signal.throwIfAborted();
    const error = toUserError(thrown);
    // The later error names similar targets of the file, too.
    if (error.code === 'target_unknown') return withTargets(context, others);
    const isRefused = error.code === 'cloud_token_refused';
    if (isRefused) await removeCache(settings.working_directory);
    if (error.exit !== EXIT.unreachable || isRefused || !cloud?.has(name)) throw error;
    const message = `${error.message}. Using the cached settings of target "${name}"`;
    context.report({ event: 'warning', code: 'cloud_unreachable', message });
    return context;
  }
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
    const shownTargets = cached ? withTargets(context, cached.targets) : context;
    const hub: HubState = { problem: isRefused ? 'refused' : 'unreachable', as_of: cached?.at ?? null };
    return { ...shownTargets, configuration: { ...shownTargets.configuration, hub } };
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
  const endpoint = hubAddress(settings);
  return token === undefined || endpoint === null ? null : { token, directory, endpoint };
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
  const added = cloudSettings([...cloud.values()], context.environment);
  const isOwn = (name: string): boolean => Object.hasOwn(local, name) && !configuration.cloud?.has(name);
  const own = Object.entries(local).filter(([name]) => isOwn(name));
  const deferred = configuration.deferred.filter(({ key }) => !key.startsWith('targets.') || isOwn(targetIn(key)));
  const blanks = [...(configuration.blanks ?? [])].filter(([key]) => isOwn(targetIn(key)));
  const changed = {
    settings: { ...configuration.settings, targets: { ...Object.fromEntries(own), ...added.targets } },
    deferred: [...deferred, ...added.deferred],
    blanks: new Map([...blanks, ...added.blanks]),
    cloud,
  };
  return { ...context, configuration: { ...configuration, ...changed } };
}
