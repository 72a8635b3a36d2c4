/** The keys of a storage profile that say where its service is. */
interface Place {
  region?: string | undefined;
  endpoint?: string | undefined;
  account_id?: string | undefined;
}

interface StorageProvider {
  /** In the wizard. */
  title: string;
  /** One of these keys is required; the wizard asks for the first. */
  needs: { oneOf: [keyof Place, ...(keyof Place)[]]; hint: string };
  /** Default region; signatures need one. */
  region: string;
  /** Default endpoint; `undefined` lets the client derive it from the region. */
  endpoint(profile: Place): string | undefined;
  /** Returns the address at which the client finds the service when it derives the endpoint. */
  derivedEndpoint?(profile: Place): string;
  /** `service/bucket/key` instead of `bucket.service/key`, which needs a DNS name per bucket. */
  pathStyle(endpoint: string | undefined): boolean;
  /** Header with the SHA-256 of a presigned upload, so that the service refuses other content. */
  checksum(sha256: string): Record<string, string>;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html */
const amazonChecksum: StorageProvider['checksum'] = (sha256) => ({
  'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
});

/** Ceph and MinIO take it as the hash of the payload. */
const payloadHash: StorageProvider['checksum'] = (sha256) => ({ 'x-amz-content-sha256': sha256 });

/** The kinds of S3-compatible services: a new one is one entry. */
const PROVIDERS = {
  s3: {
    title: 'Amazon S3',
    needs: { oneOf: ['region'], hint: 'Set the region of the bucket, such as eu-central-1.' },
    region: 'us-east-1',
    endpoint: () => undefined,
    derivedEndpoint: ({ region }) => `https://s3.${region}.amazonaws.com`,
    pathStyle: (endpoint) => endpoint !== undefined,
    checksum: amazonChecksum,
  },
  r2: {
    title: 'Cloudflare R2',
    needs: {
      oneOf: ['account_id', 'endpoint'],
      hint: 'It is part of the address of the bucket: https://<account_id>.r2.cloudflarestorage.com. An endpoint_url in the cli_profile is sufficient too.',
    },
    region: 'auto',
    endpoint: ({ account_id }) => account_id && `https://${account_id}.r2.cloudflarestorage.com`,
    pathStyle: () => true,
    checksum: amazonChecksum,
  },
  minio: {
    title: 'MinIO, or another S3-compatible service',
    needs: {
      oneOf: ['endpoint'],
      hint: 'Set the address of the service, such as https://minio.example.com:9000.',
    },
    region: 'us-east-1',
    endpoint: () => undefined,
    pathStyle: () => true,
    checksum: payloadHash,
  },
  dospaces: {
    title: 'DigitalOcean Spaces',
    needs: {
      oneOf: ['endpoint'],
      hint: 'Set the address of the service, such as https://fra1.digitaloceanspaces.com.',
    },
    region: 'us-east-1',
    endpoint: () => undefined,
    pathStyle: () => false,
    checksum: payloadHash,
  },
} satisfies Record<string, StorageProvider>;

/** A disk, a NAS or a synchronized folder instead of a bucket. */
export const FOLDER = 'folder';

export type StorageProviderId = keyof typeof PROVIDERS;

export const STORAGE_PROVIDERS: Record<StorageProviderId, StorageProvider> = PROVIDERS;
export const STORAGE_PROVIDER_IDS = Object.keys(PROVIDERS) as StorageProviderId[];

/** Returns the names of the providers that need this key, for its description. */
export function providersWith(key: keyof Place): string {
  const ids = STORAGE_PROVIDER_IDS.filter((id) => STORAGE_PROVIDERS[id].needs.oneOf[0] === key);
  return new Intl.ListFormat('en').format(ids);
}
