import type { SetupRoute } from './setup-route.ts';
import type { SetupStep } from './step.ts';

const inBucket = ({ answers }: SetupRoute): boolean => (answers.storage ?? 'none') !== 'none';
const onProvider =
  (...providers: string[]) =>
  ({ answers }: SetupRoute): boolean =>
    providers.includes(answers.storage ?? '');
const byKeys = (route: SetupRoute): boolean => inBucket(route) && route.answers.credentials === KEYS;

/** The answer of the credentials question for typed keys instead of a profile. */
export const KEYS = '';

export const STORAGE_STEPS: SetupStep[] = [
  {
    id: 'storage',
    kind: 'choice',
    about: () => ['Whether snapshots are kept in a bucket as well, to share them. It can be added later.'],
    options: () => [
      { label: 'On this machine only', value: 'none' },
      { label: 'Amazon S3', value: 's3' },
      { label: 'Cloudflare R2', value: 'r2' },
      { label: 'MinIO, or another S3-compatible service', value: 'minio' },
      { label: 'DigitalOcean Spaces', value: 'dospaces' },
    ],
  },
  { id: 'bucket', kind: 'text', label: 'Bucket:', about: () => ['Name of the bucket.'], when: inBucket },
  {
    id: 'region',
    kind: 'text',
    label: 'Region:',
    about: () => ['The region that the bucket is in, such as eu-central-1.'],
    when: onProvider('s3'),
    initial: () => 'us-east-1',
  },
  {
    id: 'endpoint',
    kind: 'text',
    label: 'Endpoint:',
    about: () => ['Address of the service, such as https://minio.example.com:9000.'],
    when: onProvider('minio', 'dospaces'),
  },
  {
    id: 'account',
    kind: 'text',
    label: 'Account:',
    about: () => ['Account of R2; it is in the address of the bucket: https://ACCOUNT.r2.cloudflarestorage.com.'],
    when: onProvider('r2'),
  },
  {
    id: 'prefix',
    kind: 'text',
    label: 'Prefix:',
    about: () => ['What the names of all objects begin with, such as team-a; empty for nothing.'],
    when: inBucket,
    optional: true,
  },
  {
    id: 'credentials',
    kind: 'choice',
    about: () => ['Who to be there. The bucket is tried then: list, put, get and delete of a small object.'],
    when: inBucket,
    options: ({ found }) => [
      ...found.cliProfiles.map((name) => ({ label: `Profile ${name} of the command-line client`, value: name })),
      { label: 'Type an access key; it is encrypted in the file', value: KEYS },
    ],
  },
  { id: 'accessKey', kind: 'text', label: 'Access key:', about: () => ['The access key.'], when: byKeys },
  {
    id: 'secretKey',
    kind: 'text',
    label: 'Secret key:',
    about: () => ['Its secret. The bucket is tried now: list, put, get and delete of a small object.'],
    when: byKeys,
    secret: true,
  },
];
