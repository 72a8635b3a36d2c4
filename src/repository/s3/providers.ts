import type { Settings } from '../../config/schema/settings.ts';

export type StorageProfile = Settings['storage_profiles'][string];

interface Provider {
  /** Where the service is, when the profile does not say; nothing lets the client find it by the region. */
  endpoint: (profile: StorageProfile) => string | undefined;
  /** Used when the profile names none; a signature needs one, whatever the service makes of it. */
  region: string;
  /** `service/bucket/key` instead of `bucket.service/key`, for which the service needs a name for every bucket. */
  pathStyle: (endpoint: string | undefined) => boolean;
}

const isOwnService = (endpoint: string | undefined): boolean => endpoint !== undefined;

/** What the services differ in. */
const PROVIDERS: Record<StorageProfile['provider'], Provider> = {
  s3: { endpoint: () => undefined, region: 'us-east-1', pathStyle: isOwnService },
  r2: {
    endpoint: ({ account_id }) => account_id && `https://${account_id}.r2.cloudflarestorage.com`,
    region: 'auto',
    pathStyle: () => true,
  },
  minio: { endpoint: () => undefined, region: 'us-east-1', pathStyle: () => true },
  dospaces: { endpoint: () => undefined, region: 'us-east-1', pathStyle: () => false },
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
