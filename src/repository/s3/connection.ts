import type { Settings } from '../../config/schema/settings.ts';
import { STORAGE_PROVIDERS } from '../../config/schema/storage-providers.ts';

export type StorageProfile = Settings['storage_profiles'][string];

export interface CliProfile {
  endpoint?: string | undefined;
  region?: string | undefined;
}

export interface S3Connection {
  endpoint: string | undefined;
  region: string;
  pathStyle: boolean;
}

/** An `endpoint_url` of the `cli_profile` wins. */
export function s3ConnectionOf(profile: StorageProfile, cli: CliProfile = {}): S3Connection {
  const provider = STORAGE_PROVIDERS[profile.provider];
  const endpoint = cli.endpoint ?? profile.endpoint ?? provider.endpoint(profile);
  const region = profile.region ?? cli.region ?? provider.region;
  return { endpoint, region, pathStyle: provider.pathStyle(endpoint) };
}

/** Headers of a presigned upload of content with this SHA-256, in hexadecimal. */
export function checksumHeader({ provider }: Pick<StorageProfile, 'provider'>, sha256: string): Record<string, string> {
  return STORAGE_PROVIDERS[provider].checksum(sha256);
}
