import type { Configuration } from '../../config/configuration.ts';
import { problemError } from '../../config/problems/invalid-configuration.ts';
import type { Settings } from '../../config/schema/settings.ts';
import {
  type BucketRepository,
  openRemoteRepository,
  type RemoteRepository,
} from '../../repository/remote-repository.ts';
import type { StorageProfile } from '../../repository/s3/connection.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { hasHub } from '../cloud/has-hub.ts';
import type { HubProfiles } from '../cloud/profiles-on-hub.ts';
import { findTarget } from '../targets/find-target.ts';

/**
 * A remote repository: the bucket of a storage profile, or that of a cloud target on the hub. `profiles`: those of a target
 * of the file, which the target on the hub must use.
 */
export type RemoteLocation = { profile: string } | { cloudTarget: string; profiles?: HubProfiles };

/** Returns the location to push to, if any: sanitized snapshots may have a storage profile of their own. */
export function locationFor(
  context: Context,
  name: string,
  { sanitized }: { sanitized: boolean },
): RemoteLocation | null {
  const { configuration } = context;
  if (configuration.cloud?.has(name) || configuration.published === name) return { cloudTarget: name };
  const { storage_profile, sanitize } = findTarget(configuration, name);
  const own = { originals: storage_profile, sanitized: sanitize?.storage_profile ?? storage_profile };
  return locationIn(context, name, { kind: sanitized ? 'sanitized' : 'originals', own });
}

/** A profile that the file lacks is one of the hub, in cloud mode. */
function locationIn(
  context: Context,
  name: string,
  { kind, own }: { kind: keyof HubProfiles; own: { [Kind in keyof HubProfiles]: HubProfiles[Kind] | undefined } },
): RemoteLocation | null {
  const profile = own[kind];
  if (profile === undefined) return null;
  const isOnHub = (one: string | undefined): boolean =>
    one !== undefined && !isInFile(context.configuration, one) && hasHub(context);
  if (!isOnHub(profile)) return { profile };
  return { cloudTarget: name, profiles: Object.fromEntries(Object.entries(own).filter(([, one]) => isOnHub(one))) };
}

/** Also one that has an error. */
function isInFile({ settings, deferred }: Configuration, profile: string): boolean {
  const key = `storage_profiles.${profile}.`;
  return Object.hasOwn(settings.storage_profiles, profile) || deferred.some((one) => `${one.key}.`.startsWith(key));
}

/** The remote repositories that may hold snapshots of a target. */
export function locationsOf(context: Context, name: string): RemoteLocation[] {
  if (context.localOnly) return [];
  const { share } = findTarget(context.configuration, name);
  const isCloud = context.configuration.cloud?.has(name) ?? false;
  if (share && !isCloud) {
    const location = locationIn(context, name, { kind: 'shared', own: { shared: share.storage_profile_name } });
    return location ? [location] : [];
  }
  const all = [false, true].flatMap((sanitized) => locationFor(context, name, { sanitized }) ?? []);
  return [...new Map(all.map((location) => [JSON.stringify(location), location])).values()];
}

/** Throws when a storage profile to which snapshots of a target are pushed is not defined or has an error. */
export async function assertUsableProfiles(context: Context, name: string): Promise<void> {
  for (const location of locationsOf(context, name)) {
    if ('profile' in location) profileNamed(context.configuration, location.profile);
    else await assertOnHub(context, location, 'push');
  }
}

async function assertOnHub(
  context: Context,
  { cloudTarget, profiles }: Exclude<RemoteLocation, { profile: string }>,
  purpose: 'list' | 'transfer' | 'push',
): Promise<void> {
  if (profiles === undefined) return;
  const { assertProfilesOnHub } = await import('../cloud/profiles-on-hub.ts');
  await assertProfilesOnHub(context, { target: cloudTarget, profiles, purpose });
}

export interface OpeningLocation {
  /** For a list, which local snapshots can stand in for; `within` opens the repository for transfers. */
  listing?: boolean;
}

export async function openLocation(
  context: Context,
  location: RemoteLocation,
  { listing = false }: OpeningLocation = {},
): Promise<RemoteRepository> {
  if ('profile' in location) return openRemote(context, location.profile);
  await assertOnHub(context, location, listing ? 'list' : 'transfer');
  const { openCloudRepository } = await import('../cloud/open-cloud-repository.ts');
  return openCloudRepository(context, { target: location.cloudTarget, listing });
}

export function openRemote(context: Context, name: string): Promise<BucketRepository> {
  const { configuration, report, signal, roleCredentials } = context;
  const { working_directory: directory } = configuration.settings;
  const profile = profileNamed(configuration, name);
  const hasRole = profile.role_arn !== undefined && roleCredentials !== undefined;
  const credentials = hasRole ? () => roleCredentials(name) : undefined;
  const secretKey = bucketKey(configuration.settings, name);
  return openRemoteRepository({ name, profile, secretKey, directory, report, signal, credentials });
}

/** Throws when the profile is not defined or has an error. */
export function profileNamed({ settings, deferred }: Configuration, name: string): StorageProfile {
  const { storage_profiles } = settings;
  const profile = Object.hasOwn(storage_profiles, name) ? storage_profiles[name] : undefined;
  if (profile) return profile;
  const problem = deferred.find(({ key }) => `${key}.`.startsWith(`storage_profiles.${name}.`));
  if (problem) throw problemError(problem);
  throw new UserError('storage_profile_not_found', `storage profile '${name}' not found`, {
    hint: 'Define it below storage_profiles in the configuration.',
  });
}

/**
 * The key of an encrypted bucket: its own, which can be shared without the tokens that the `secret_key` opens, or the
 * `secret_key`. `null` without either.
 */
export function bucketKey({ storage_profiles, secret_key }: Settings, profile: string): string | null {
  return storage_profiles[profile]?.encryption_key ?? secret_key ?? null;
}
