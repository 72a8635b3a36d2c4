import * as v from 'valibot';
import { STORAGE_PROVIDER_IDS } from './storage-providers.ts';
import { traits } from './traits.ts';
import { hostLabel, text, webUrl } from './values.ts';

export const storageProfileSchema = v.strictObject({
  provider: v.pipe(
    v.picklist(STORAGE_PROVIDER_IDS),
    v.description('Kind of storage; minio stands for any S3-compatible service.'),
    v.examples(['s3']),
    traits({ effect: 'stores' }),
  ),
  bucket: v.pipe(
    text,
    v.regex(
      /^(?:arn:[\w:/.-]+|[\w.-]*)$/,
      'must be the name of a bucket: a folder goes to prefix, an address to endpoint',
    ),
    v.description('Name of the bucket.'),
    v.examples(['snapshots']),
    traits({ effect: 'stores' }),
  ),
  prefix: v.exactOptional(
    v.pipe(
      v.string(),
      v.description('Key prefix inside the bucket.'),
      v.examples(['team-a']),
      traits({ effect: 'stores' }),
    ),
  ),
  region: v.exactOptional(
    v.pipe(
      hostLabel,
      v.description('Region; required by s3.'),
      v.examples(['eu-central-1']),
      traits({ effect: 'stores' }),
    ),
  ),
  endpoint: v.exactOptional(
    v.pipe(
      webUrl,
      v.description('Address of the service; required by minio and dospaces.'),
      v.examples(['https://minio.example.com:9000']),
      traits({ effect: 'stores' }),
    ),
  ),
  cli_profile: v.exactOptional(
    v.pipe(
      text,
      v.description('AWS CLI profile with the credentials (s3, r2).'),
      v.examples(['default']),
      traits({ names: 'cli_profile', effect: 'stores' }),
    ),
  ),
  access_key: v.exactOptional(
    v.pipe(
      text,
      v.description('Direct credential; prefer cli_profile.'),
      v.examples(['AKIA…']),
      traits({ secret: true }),
    ),
  ),
  secret_key: v.exactOptional(
    v.pipe(
      text,
      v.description('Direct credential; prefer cli_profile.'),
      v.examples(['secret of the access key']),
      traits({ secret: true }),
    ),
  ),
  encrypt: v.exactOptional(
    v.pipe(
      v.boolean(),
      v.description('Encrypts all objects in the bucket.'),
      v.examples([true]),
      traits({ effect: 'stores' }),
    ),
  ),
  encryption_key: v.exactOptional(
    v.pipe(
      v.string(),
      v.regex(/^[0-9a-fA-F]{32}$/, 'must be exactly 32 hexadecimal characters'),
      v.description('Key of encrypt, the same for all users of the bucket; default secret_key.'),
      v.examples(['89abcdef0123456789abcdef01234567']),
      traits({ secret: true, hint: 'Generate one: openssl rand -hex 16' }),
    ),
  ),
  role_arn: v.exactOptional(
    v.pipe(
      text,
      v.description('Role whose temporary credentials the sign-in obtains.'),
      v.examples(['arn:aws:iam::123456789012:role/snapshots']),
      traits({ effect: 'stores' }),
    ),
  ),
  sts_endpoint: v.exactOptional(
    v.pipe(
      webUrl,
      v.description('Address that assumes role_arn; default: endpoint, or that of the region.'),
      v.examples(['https://sts.example.com']),
    ),
  ),
  account_id: v.exactOptional(
    v.pipe(
      hostLabel,
      v.description('Account of r2, with direct credentials.'),
      v.examples(['0123456789abcdef']),
      traits({
        effect: 'stores',
        hint: 'It is the first part of the address of the bucket: https://<account_id>.r2.cloudflarestorage.com.',
      }),
    ),
  ),
});
