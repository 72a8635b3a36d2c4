import type { S3Client } from '@aws-sdk/client-s3';
import { type AwsProfile, readAwsProfiles } from '../../config/aws-profiles.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';
import { connectionOf, type StorageProfile } from './providers.ts';

/** Requests that may be under way at the same moment. */
const SOCKETS = 32;

/** A connection that does not come, or over which nothing comes, is given up after so many milliseconds. */
export const CONNECTION_TIMEOUT = 5000;
export const IDLE_TIMEOUT = 30_000;

/** Credentials for a while; asked for again when they end. */
export type Credentials = () => Promise<{
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
  expiration: Date;
}>;

/**
 * A client for the service of a storage profile. Credentials: those of its role, or its `cli_profile`, or its own keys,
 * or what the environment offers (variables, the default profile, the machine's role).
 */
export async function createS3Client(profile: StorageProfile, credentials?: Credentials): Promise<S3Client> {
  const { sdk } = await import('./sdk.ts');
  const { cli_profile, access_key, secret_key } = profile;
  const { endpoint, region, pathStyle } = connectionOf(profile, cli_profile ? await readCliProfile(cli_profile) : {});
  const keys = !cli_profile && access_key && secret_key;
  return new sdk.S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint !== undefined && { endpoint }),
    ...(cli_profile && { profile: cli_profile }),
    ...(credentials && { credentials }),
    ...(!credentials && keys && { credentials: { accessKeyId: access_key, secretAccessKey: secret_key } }),
    // Several services refuse the checksums that newer clients send and ask for by themselves (411, 501).
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // A proxy that does not know it costs a second a part.
    expectContinueHeader: false,
    // Retried by the store, which knows what may be retried: see retry.ts.
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECTION_TIMEOUT,
      socketTimeout: IDLE_TIMEOUT,
      httpAgent: { keepAlive: true, maxSockets: SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: SOCKETS },
    },
  });
}

/** The client reads credentials from the profile by itself, but not its endpoint. */
async function readCliProfile(name: string): Promise<AwsProfile> {
  const profile = (await readAwsProfiles(process.env)).get(name);
  if (profile) return profile;
  throw new UserError(`The storage's command-line client has no profile "${name}"`, {
    code: 'storage_credentials_missing',
    exit: EXIT.unreachable,
    hint: `Make it with: aws configure --profile ${name}; or change cli_profile in the configuration.`,
  });
}
