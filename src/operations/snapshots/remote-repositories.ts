import type { RemoteRepository } from '../../repository/remote-repository.ts';
import type { Context } from '../../runtime/context.ts';
import { findTarget } from '../find-target.ts';
import { openRemote, profileNamed } from './storage-profiles.ts';

/** A remote repository: the bucket of a storage profile, or that of a cloud target on the hub. */
export type RemoteLocation = { profile: string } | { cloudTarget: string };

/** Where a target's snapshots are pushed to, if anywhere: sanitized ones may have a storage profile of their own. */
export function locationFor(
  { configuration }: Context,
  name: string,
  { sanitized }: { sanitized: boolean },
): RemoteLocation | null {
  if (configuration.cloud?.has(name) || configuration.published === name) return { cloudTarget: name };
  const { storage_profile, sanitize } = findTarget(configuration, name);
  const profile = (sanitized ? sanitize?.storage_profile : undefined) ?? storage_profile;
  return profile === undefined ? null : { profile };
}

/** The remote repositories that may hold snapshots of a target. */
export function locationsOf(context: Context, name: string): RemoteLocation[] {
  if (context.localOnly) return [];
  const { share } = findTarget(context.configuration, name);
  const isCloud = context.configuration.cloud?.has(name) ?? false;
  if (share && !isCloud)
    return share.storage_profile_name === undefined ? [] : [{ profile: share.storage_profile_name }];
  const all = [false, true].flatMap((sanitized) => locationFor(context, name, { sanitized }) ?? []);
  return [...new Map(all.map((location) => [JSON.stringify(location), location])).values()];
}

/** Throws when a storage profile to which snapshots of a target are pushed is not defined or has an error. */
export function assertUsableProfiles(context: Context, name: string): void {
  for (const location of locationsOf(context, name)) {
    if ('profile' in location) profileNamed(context.configuration, location.profile);
  }
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
  const { openCloudRepository } = await import('../cloud/open-cloud-repository.ts');
  return openCloudRepository(context, { target: location.cloudTarget, listing });
}
