import type { LookupFunction } from 'node:net';
import type { S3Client } from '@aws-sdk/client-s3';
import { type AwsProfile, readAwsProfiles } from '../../config/aws-profiles.ts';
import { UserError } from '../../runtime/errors.ts';
import type { TemporaryCredentials } from '../../sso/assume-role.ts';
import { shell } from '../../text/shell-word.ts';
import { type BucketProfile, s3ConnectionOf } from './connection.ts';

const SOCKETS = 32;

/** In ms, for connecting and between bytes. */
export const CONNECTION_TIMEOUT = 5000;
export const IDLE_TIMEOUT = 30_000;

export type Credentials = () => Promise<TemporaryCredentials>;

/**
 * Credentials, in this order: the role's, `cli_profile`, the profile's own keys, the environment (variables, default
 * profile, machine role). `lookup` resolves the names of connections.
 */
export async function createS3Client(
  profile: BucketProfile,
  credentials?: Credentials,
  lookup?: LookupFunction,
): Promise<S3Client> {
  const { sdk } = await import('./sdk.ts');
  const { cli_profile, access_key, secret_key } = profile;
  const { endpoint, region, pathStyle } = s3ConnectionOf(profile, cli_profile ? await readCliProfile(cli_profile) : {});
  const keys = !cli_profile && access_key && secret_key;
  const agent = { keepAlive: true, maxSockets: SOCKETS, ...(lookup && { lookup }) };
  return new sdk.S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint !== undefined && { endpoint }),
    ...(cli_profile && { profile: cli_profile }),
    ...(credentials && { credentials }),
    ...(!credentials && keys && { credentials: { accessKeyId: access_key, secretAccessKey: secret_key } }),
    // Several services refuse the checksums of newer clients (411, 501).
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // A proxy without support for it costs a second per part.
    expectContinueHeader: false,
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT,
      socketTimeout: IDLE_TIMEOUT,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

/** The client reads the profile's credentials, but not its endpoint. */
async function readCliProfile(name: string): Promise<AwsProfile> {
  const profile = (await readAwsProfiles(process.env)).get(name);
  if (profile) return profile;
  throw new UserError('storage_credentials_missing', `The AWS CLI has no profile "${name}"`, {
    hint: `Create it: ${shell`aws configure --profile ${name}`}; or change cli_profile in the configuration.`,
  });
}
