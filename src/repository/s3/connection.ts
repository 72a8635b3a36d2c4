import type { AwsProfile } from '../../config/aws-profiles.ts';
import type { Settings } from '../../config/schema/settings.ts';
import { FOLDER, STORAGE_PROVIDERS, type StorageProviderId } from '../../config/schema/storage-providers.ts';

export type StorageProfile = Settings['storage_profiles'][string];
export type BucketProfile = StorageProfile & { provider: StorageProviderId; bucket: string };
export type FolderProfile = StorageProfile & { provider: typeof FOLDER; path: string };

/** The rules of the configuration require the keys of its provider. */
export function isFolder(profile: StorageProfile): profile is FolderProfile {
  return profile.provider === FOLDER && profile.path !== undefined;
}

export function bucketOf({ provider, bucket, ...rest }: StorageProfile): BucketProfile {
  if (provider === FOLDER || bucket === undefined) throw new Error('a storage profile is no bucket');
  return { ...rest, provider, bucket };
}

export interface S3Connection {
  endpoint: string | undefined;
  region: string;
  pathStyle: boolean;
}

/** An `endpoint_url` of the `cli_profile` wins. */
export function s3ConnectionOf(profile: BucketProfile, cli: Partial<AwsProfile> = {}): S3Connection {
  const provider = STORAGE_PROVIDERS[profile.provider];
  const endpoint = cli.endpoint ?? profile.endpoint ?? provider.endpoint(profile);
  const region = profile.region ?? cli.region ?? provider.region;
  return { endpoint, region, pathStyle: provider.pathStyle(endpoint) };
}

/** Headers of a presigned upload of content with this SHA-256, in hexadecimal. */
export function checksumHeader({ provider }: Pick<BucketProfile, 'provider'>, sha256: string): Record<string, string> {
  return STORAGE_PROVIDERS[provider].checksum(sha256);
}
