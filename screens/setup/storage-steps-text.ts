import {
  FOLDER,
  STORAGE_PROVIDER_IDS,
  STORAGE_PROVIDERS,
  type StorageProviderId,
} from '../../src/config/schema/storage-providers.ts';
import type { SetupState, SetupStep } from './step.ts';

const inBucket = ({ answers }: SetupState): boolean => isProvider(answers.storage);
const needs =
  (key: string) =>
  ({ answers }: SetupState): boolean =>
    neededBy(answers.storage) === key;
const byKeys = (state: SetupState): boolean => inBucket(state) && state.answers.credentials === KEYS;

/** The answer of the credentials question for typed keys instead of a profile. */
export const KEYS = '';

export function isProvider(storage: string | undefined): storage is StorageProviderId {
  return STORAGE_PROVIDER_IDS.some((id) => id === storage);
}

/** The key that says where the service of the chosen provider is. */
export function neededBy(storage: string | undefined): string | null {
  return isProvider(storage) ? STORAGE_PROVIDERS[storage].needs.oneOf[0] : null;
}

export const STORAGE_STEPS: SetupStep[] = [
  {
    id: 'storage',
    kind: 'choice',
    about: () => ['Where to store snapshots. A bucket or a folder shares them, and can be added later.'],
    options: () => [
      { label: 'On this machine only', value: 'none' },
      ...STORAGE_PROVIDER_IDS.map((id) => ({ label: STORAGE_PROVIDERS[id].title, value: id })),
      { label: 'A folder: disk, NAS or synchronized folder', value: FOLDER },
    ],
  },
  {
    id: 'path',
    kind: 'text',
    label: 'Folder:',
    about: () => ['An existing folder, such as /mnt/nas/snapshots. It is then tested with a small file.'],
    when: ({ answers }) => answers.storage === FOLDER,
  },
  { id: 'bucket', kind: 'text', label: 'Bucket:', about: () => ['Name of the bucket.'], when: inBucket },
  {
    id: 'region',
    kind: 'text',
    label: 'Region:',
    about: () => ['Region of the bucket, such as eu-central-1.'],
    when: needs('region'),
    initial: () => 'us-east-1',
  },
  {
    id: 'endpoint',
    kind: 'text',
    label: 'Endpoint:',
    about: () => ['Address of the service, such as https://minio.example.com:9000.'],
    when: needs('endpoint'),
  },
  {
    id: 'account',
    kind: 'text',
    label: 'Account:',
    about: () => ['Account of R2; it is in the address of the bucket: https://ACCOUNT.r2.cloudflarestorage.com.'],
    when: needs('account_id'),
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
