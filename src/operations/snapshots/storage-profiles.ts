import type { Settings } from '../../config/schema/settings.ts';
import { type BucketRepository, openRemoteRepository } from '../../repository/remote-repository.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';

/** The remote repository of a storage profile. */
export function openRemote(context: Context, name: string): Promise<BucketRepository> {
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

/**
 * The key of an encrypted bucket: its own, which can be shared without the tokens that the `secret_key` opens, or the
 * `secret_key`. `null` without either.
 */
export function bucketKey({ storage_profiles, secret_key }: Settings, profile: string): string | null {
  return storage_profiles[profile]?.encryption_key ?? secret_key ?? null;
}
