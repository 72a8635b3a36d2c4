import type { Configuration } from '../../config/configuration.ts';
import { problemError } from '../../config/problems/invalid-configuration.ts';
import type { Settings } from '../../config/schema/settings.ts';
import { type BucketRepository, openRemoteRepository } from '../../repository/remote-repository.ts';
import type { StorageProfile } from '../../repository/s3/connection.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';

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
