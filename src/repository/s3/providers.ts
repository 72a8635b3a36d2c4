import type { Settings } from '../../config/schema/settings.ts';

export type StorageProfile = Settings['storage_profiles'][string];

interface Provider {
  /** Default endpoint; `undefined` lets the client derive it from the region. */
  endpoint: (profile: StorageProfile) => string | undefined;
  /** Default region; signatures need one. */
  region: string;
  /** `service/bucket/key` instead of `bucket.service/key`, which needs a DNS name per bucket. */
  pathStyle: (endpoint: string | undefined) => boolean;
}

const isOwnService = (endpoint: string | undefined): boolean => endpoint !== undefined;

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

/** Settings of a profile of the AWS CLI. */
export interface CliProfile {
  endpoint?: string | undefined;
  region?: string | undefined;
}

export interface Connection {
  endpoint: string | undefined;
  region: string;
  pathStyle: boolean;
}

/** An `endpoint_url` of the `cli_profile` wins. */
export function connectionOf(profile: StorageProfile, cli: CliProfile = {}): Connection {
  const provider = PROVIDERS[profile.provider];
  const endpoint = cli.endpoint ?? profile.endpoint ?? provider.endpoint(profile);
  const region = profile.region ?? cli.region ?? provider.region;
  return { endpoint, region, pathStyle: provider.pathStyle(endpoint) };
}
