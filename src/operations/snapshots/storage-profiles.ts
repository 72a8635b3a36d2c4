import type { Settings } from '../../config/schema/settings.ts';
import { openRemoteRepository, type RemoteRepository } from '../../repository/remote-repository.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { findTarget } from '../find-target.ts';

/** The remote repository of a storage profile. */
export function openRemote(context: Context, name: string): Promise<RemoteRepository> {
  const { configuration, report, signal, roleCredentials } = context;
  const { storage_profiles, working_directory: directory } = configuration.settings;
  const profile = Object.hasOwn(storage_profiles, name) ? storage_profiles[name] : undefined;
  if (!profile) {
    throw new UserError(`storage profile '${name}' not found`, {
      code: 'storage_profile_not_found',
      exit: EXIT.configuration,
      hint: 'Define it below storage_profiles in the configuration.',
    });
  }
  const hasRole = profile.role_arn !== undefined && roleCredentials !== undefined;
  const credentials = hasRole ? () => roleCredentials(name) : undefined;
  const secretKey = bucketKey(configuration.settings, name);
  return openRemoteRepository({ name, profile, secretKey, directory, report, signal, credentials });
}

/** Encrypts what lies in the bucket. One of its own can be shared without what the secret_key opens besides: tokens. */
export function bucketKey({ storage_profiles, secret_key }: Settings, profile: string): string {
  return storage_profiles[profile]?.encryption_key ?? secret_key;
}

/** The storage profile that a target's snapshots are pushed to, if any: sanitized ones may have one of their own. */
export function profileFor({ configuration }: Context, name: string, { sanitized }: { sanitized: boolean }) {
  const { storage_profile, sanitize } = findTarget(configuration, name);
  return (sanitized ? sanitize?.storage_profile : undefined) ?? storage_profile;
}

/** The storage profiles that may hold snapshots of a target. */
export function profilesOf(context: Context, name: string): string[] {
  const { share } = findTarget(context.configuration, name);
  const profiles = share
    ? [share.storage_profile_name]
    : [false, true].map((sanitized) => profileFor(context, name, { sanitized }));
  return [...new Set(profiles.filter((profile) => profile !== undefined))];
}
