import * as v from 'valibot';
import { key, optionalKey } from './key.ts';
import { FOLDER, providersWith, STORAGE_PROVIDER_IDS } from './storage-providers.ts';
import { hostLabel, text, webUrl } from './values.ts';

const bucketName = v.pipe(
  text,
  v.regex(
    /^(?:arn:[\w:/.-]+|[\w.-]*)$/,
    'must be the name of a bucket: a folder goes to prefix, an address to endpoint',
  ),
);
const bucketFacts = { example: 'snapshots', effect: 'stores' } as const;

export const bucketSchema = key(bucketName, 'Name of the bucket.', bucketFacts);

export const storageProfileSchema = v.strictObject({
  provider: key(
    v.picklist([...STORAGE_PROVIDER_IDS, FOLDER]),
    'Kind of storage; minio stands for any S3-compatible service, folder for a disk or a NAS.',
    { example: 's3', effect: 'stores' },
  ),
  bucket: optionalKey(bucketName, 'Name of the bucket; required except by folder.', bucketFacts),
  path: optionalKey(text, 'Existing folder of provider folder; relative paths start at the configuration file.', {
    example: '/mnt/nas/snapshots',
    effect: 'stores',
  }),
  prefix: optionalKey(v.string(), 'Key prefix inside the bucket.', { example: 'team-a', effect: 'stores' }),
  region: optionalKey(hostLabel, `Region; required by ${providersWith('region')}.`, {
    example: 'eu-central-1',
    effect: 'stores',
  }),
  endpoint: optionalKey(webUrl, `Address of the service; required by ${providersWith('endpoint')}.`, {
    example: 'https://minio.example.com:9000',
    effect: 'stores',
  }),
  cli_profile: optionalKey(text, 'AWS CLI profile with the credentials.', {
    example: 'default',
    names: 'cli_profile',
    effect: 'stores',
  }),
  access_key: optionalKey(text, 'Direct credential; prefer cli_profile.', { example: 'AKIA…', secret: true }),
  secret_key: optionalKey(text, 'Direct credential; prefer cli_profile.', {
    example: 'secret of the access key',
    secret: true,
  }),
  encrypt: optionalKey(v.boolean(), 'Encrypts all objects in the bucket.', { example: true, effect: 'stores' }),
  encryption_key: optionalKey(
    v.pipe(v.string(), v.regex(/^[0-9a-fA-F]{32}$/, 'must be exactly 32 hexadecimal characters')),
    'Key of encrypt, the same for all users of the bucket; default secret_key.',
    { example: '89abcdef0123456789abcdef01234567', secret: true, hint: 'Generate one: openssl rand -hex 16' },
  ),
  role_arn: optionalKey(text, 'Role whose temporary credentials the sign-in obtains.', {
    example: 'arn:aws:iam::123456789012:role/snapshots',
    effect: 'stores',
  }),
  sts_endpoint: optionalKey(webUrl, 'Address that assumes role_arn; default: endpoint, or that of the region.', {
    example: 'https://sts.example.com',
  }),
  account_id: optionalKey(hostLabel, `Account of ${providersWith('account_id')}, with direct credentials.`, {
    example: '0123456789abcdef',
    effect: 'stores',
    hint: 'It is the first part of the address of the bucket: https://<account_id>.r2.cloudflarestorage.com.',
  }),
});
