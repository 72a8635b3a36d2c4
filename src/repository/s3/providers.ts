import type { Settings } from '../../config/schema/settings.ts';

export type StorageProfile = Settings['storage_profiles'][string];

interface Provider {
  /** Where the service is, when the profile does not say; nothing lets the client find it by the region. */
  endpoint: (profile: StorageProfile) => string | undefined;
  /** Used when the profile names none; a signature needs one, whatever the service makes of it. */
  region: string;
  /** `service/bucket/key` instead of `bucket.service/key`, for which the service needs a name for every bucket. */
  pathStyle: (endpoint: string | undefined) => boolean;
  /** What a presigned upload names the SHA-256 of its content with, so that the service refuses any other. */
  checksum: (sha256: string) => Record<string, string>;
}

const isOwnService = (endpoint: string | undefined): boolean => endpoint !== undefined;

/** S3's own; in base64. */
const checksumOfAmazon: Provider['checksum'] = (sha256) => ({
  'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
});

/** Ceph takes it for the hash of the payload, as MinIO does. */
const payloadHash: Provider['checksum'] = (sha256) => ({ 'x-amz-content-sha256': sha256 });

/** What the services differ in. */
const PROVIDERS: Record<StorageProfile['provider'], Provider> = {
  s3: { endpoint: () => undefined, region: 'us-east-1', pathStyle: isOwnService, checksum: checksumOfAmazon },
  r2: {
    endpoint: ({ account_id }) => account_id && `https://${account_id}.r2.cloudflarestorage.com`,
    region: 'auto',
    pathStyle: () => true,
    checksum: checksumOfAmazon,
  },
  minio: { endpoint: () => undefined, region: 'us-east-1', pathStyle: () => true, checksum: payloadHash },
  dospaces: { endpoint: () => undefined, region: 'us-east-1', pathStyle: () => false, checksum: payloadHash },
};

/** What the shared configuration of the storage's command-line client says of a profile. */
export interface CliProfile {
  endpoint?: string | undefined;
  region?: string | undefined;
}

export interface Connection {
  endpoint: string | undefined;
  region: string;
  pathStyle: boolean;
}

/** How to reach the service of a storage profile. An `endpoint_url` of its `cli_profile` wins. */
export function connectionOf(profile: StorageProfile, cli: CliProfile = {}): Connection {
  const provider = PROVIDERS[profile.provider];
  const endpoint = cli.endpoint ?? profile.endpoint ?? provider.endpoint(profile);
  const region = profile.region ?? cli.region ?? provider.region;
  return { endpoint, region, pathStyle: provider.pathStyle(endpoint) };
}

/** Headers of a presigned upload of content with this SHA-256, in hexadecimal. */
export function checksumHeader({ provider }: Pick<StorageProfile, 'provider'>, sha256: string): Record<string, string> {
  return PROVIDERS[provider].checksum(sha256);
}
