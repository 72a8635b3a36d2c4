import type { SetupState, SetupStep } from './step.ts';

const inBucket = ({ answers }: SetupState): boolean => (answers.storage ?? 'none') !== 'none';
const onProvider =
  (...providers: string[]) =>
  ({ answers }: SetupState): boolean =>
    providers.includes(answers.storage ?? '');
const byKeys = (state: SetupState): boolean => inBucket(state) && state.answers.credentials === KEYS;

/** The answer of the credentials question for typed keys instead of a profile. */
export const KEYS = '';

export const STORAGE_STEPS: SetupStep[] = [
  {
    id: 'storage',
    kind: 'choice',
    about: () => ['Where to store snapshots. A bucket shares them, and can be added later.'],
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
    about: () => ['Region of the bucket, such as eu-central-1.'],
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
    about: () => ['Prefix of all object names, such as team-a; empty for none.'],
    when: inBucket,
    optional: true,
  },
  {
    id: 'credentials',
    kind: 'choice',
    about: () => ['Credentials. The bucket is then tested: list, put, get and delete of a small object.'],
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
    about: () => ['The secret key. The bucket is then tested: list, put, get and delete of a small object.'],
    when: byKeys,
    secret: true,
  },
];
