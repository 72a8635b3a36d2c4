import * as v from 'valibot';
import { STORAGE_PROVIDER_IDS } from './storage-providers.ts';
import { traits } from './traits.ts';
import { hostLabel, text, webUrl } from './values.ts';

export const storageProfileSchema = v.strictObject({
  provider: v.pipe(
    v.picklist(STORAGE_PROVIDER_IDS),
    v.description('Kind of storage; another S3-compatible service is used as minio, with its endpoint.'),
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
      v.description('Region; s3 needs it.'),
      v.examples(['eu-central-1']),
      traits({ effect: 'stores' }),
    ),
  ),
  endpoint: v.exactOptional(
    v.pipe(
      webUrl,
      v.description('Address of the service; minio and dospaces need it.'),
      v.examples(['https://minio.example.com:9000']),
      traits({ effect: 'stores' }),
    ),
  ),
  cli_profile: v.exactOptional(
    v.pipe(
      text,
      v.description("Profile of the storage's command-line client that holds the credentials (s3, r2)."),
      v.examples(['default']),
      traits({ names: 'cli_profile', effect: 'stores' }),
    ),
  ),
  access_key: v.exactOptional(
    v.pipe(
      text,
      v.description('Direct credential; not recommended for production.'),
      v.examples(['AKIA…']),
      traits({ secret: true }),
    ),
  ),
  secret_key: v.exactOptional(
    v.pipe(
      text,
      v.description('Direct credential; not recommended for production.'),
      v.examples(['secret of the access key']),
      traits({ secret: true }),
    ),
  ),
  encrypt: v.exactOptional(
    v.pipe(
      v.boolean(),
      v.description(
        'Encrypts all that is stored in the bucket, with the encryption_key; all who share it need the same one.',
      ),
      v.examples([true]),
      traits({ effect: 'stores' }),
    ),
  ),
  encryption_key: v.exactOptional(
    v.pipe(
      v.string(),
      v.regex(/^[0-9a-fA-F]{32}$/, 'must be exactly 32 hexadecimal characters'),
      v.description('Key for encrypt, the same for all who share the bucket; the secret_key unless set.'),
      v.examples(['89abcdef0123456789abcdef01234567']),
      traits({ secret: true, hint: 'Generate one: openssl rand -hex 16' }),
    ),
  ),
  role_arn: v.exactOptional(
    v.pipe(
      text,
      v.description('Role whose temporary credentials the sign-in obtains, instead of shared keys.'),
      v.examples(['arn:aws:iam::123456789012:role/snapshots']),
      traits({ effect: 'stores' }),
    ),
  ),
  sts_endpoint: v.exactOptional(
    v.pipe(
      webUrl,
      v.description('Where role_arn is assumed; the endpoint of the profile or that of its region unless said.'),
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
