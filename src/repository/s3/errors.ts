import type { ErrorCode } from '../../runtime/error-codes.ts';
import { UserError } from '../../runtime/errors.ts';
import { SealBroken } from '../encryption/sealed-format.ts';
import { TooLarge } from '../store/store.ts';

export interface FailedRequest {
  error: unknown;
  profile: string;
  bucket: string;
  access: 'read' | 'write';
}

interface ErrorExplanation {
  /** The service's error codes, which are part of its protocol, and the operating system's. */
  names: string[];
  code: ErrorCode;
  message: (failed: FailedRequest) => string;
  hint: (failed: FailedRequest) => string;
  /** Default: 1. */
  attempts?: number;
}

const missingBucket: ErrorExplanation = {
  names: ['NoSuchBucket', 'InvalidBucketName'],
  code: 'bucket_missing',
  message: ({ bucket }) => `Bucket not found: ${bucket}`,
  hint: ({ profile }) => `Create it, or change storage_profiles.${profile}.bucket in the configuration.`,
};

const wrongKeys: ErrorExplanation = {
  names: ['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidToken', 'ExpiredToken', 'Unauthorized'],
  code: 'storage_denied',
  message: ({ profile, bucket }) => `${bucket} rejected the credentials of storage profile "${profile}"`,
  hint: ({ profile }) => `Check storage_profiles.${profile}: cli_profile, or access_key and secret_key.`,
};

const noKeys: ErrorExplanation = {
  names: ['CredentialsProviderError', 'TokenProviderError'],
  code: 'storage_credentials_missing',
  message: ({ profile }) => `No credentials for storage profile "${profile}"`,
  hint: ({ profile }) => `Set storage_profiles.${profile}.cli_profile, or log in with the AWS CLI.`,
};

const mayNot: ErrorExplanation = {
  names: ['AccessDenied', 'AllAccessDisabled', 'AccountProblem'],
  code: 'storage_forbidden',
  message: ({ access, profile, bucket }) =>
    `The credentials of storage profile "${profile}" may not ${access === 'write' ? 'write to' : 'read'} ${bucket}`,
  hint: ({ access }) =>
    access === 'write'
      ? 'They are read-only: allow them to put and delete objects, or use others.'
      : 'Allow them to list the bucket and get objects, or use others.',
};

const clockSkew: ErrorExplanation = {
  names: ['RequestTimeTooSkewed', 'RequestExpired'],
  code: 'clock_skew',
  message: ({ bucket }) => `${bucket} refuses the request because the clock of this machine is wrong`,
  hint: () => 'Set the clock, to within a few minutes.',
  // The client corrects its clock after the first answer.
  attempts: 2,
};

const full: ErrorExplanation = {
  names: ['QuotaExceeded', 'InsufficientCapacity', 'XMinioStorageFull', 'XMinioAdminBucketQuotaExceeded'],
  code: 'storage_full',
  message: ({ bucket }) => `${bucket} is full: its quota is used up`,
  hint: () => 'Remove snapshots (tool prune), or raise the quota.',
};

const wrongRegion: ErrorExplanation = {
  names: ['PermanentRedirect', 'AuthorizationHeaderMalformed', 'IllegalLocationConstraintException'],
  code: 'region_wrong',
  message: ({ bucket }) => `${bucket} is in another region`,
  hint: ({ profile }) => `Set storage_profiles.${profile}.region to the region of the bucket.`,
};

const ATTEMPTS_AT_NETWORK = 3;

/** An unknown name or a closed port is permanent. */
const noNetwork: ErrorExplanation = {
  names: [
    ...['TimeoutError', 'NoStorage', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'],
    ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
    ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ],
  code: 'storage_unreachable',
  message: ({ bucket }) => `Cannot reach ${bucket}`,
  hint: ({ profile }) => `Check the network and the endpoint of storage profile "${profile}".`,
  attempts: ATTEMPTS_AT_NETWORK,
};

const failing: ErrorExplanation = { ...noNetwork, message: ({ bucket }) => `${bucket} keeps failing`, attempts: 7 };

const EXPLANATIONS = [missingBucket, wrongKeys, noKeys, mayNot, clockSkew, full, wrongRegion, noNetwork];

const MEANINGS: Record<string, ErrorExplanation> = Object.fromEntries(
  EXPLANATIONS.flatMap((explanation) => explanation.names.map((name) => [name, explanation])),
);

/** For answers without a body, such as those to HEAD. Redirects are not followed: they lead to another region. */
const BY_STATUS: Record<number, ErrorExplanation> = {
  ...{ 301: wrongRegion, 302: wrongRegion, 307: wrongRegion, 308: wrongRegion },
  ...{ 401: wrongKeys, 403: mayNot, 507: full },
};

/** Attempts for damaged content: it may be damaged in the bucket. */
const ATTEMPTS_AT_SEALED = 3;

/** Temporary errors of the credential provider; all others are permanent. */
const PASSING = ['role_unreachable', 'provider_unreachable'];

export function attemptsFor(error: unknown): number {
  if (error instanceof SealBroken) return ATTEMPTS_AT_SEALED;
  if (error instanceof UserError) return PASSING.includes(error.code) ? ATTEMPTS_AT_NETWORK : 1;
  return isMissing(error) || error instanceof TooLarge ? 1 : (meaningOf(error).attempts ?? 1);
}

export function isMissing(error: unknown): boolean {
  return ['NoSuchKey', 'NotFound', 'NoSuchUpload'].includes((error as Error).name);
}

export function storageError(failed: FailedRequest): UserError {
  const { error } = failed;
  if (error instanceof UserError) return error;
  const meaning = meaningOf(error);
  const reason = reasonOf(error);
  return new UserError(meaning.code, `${meaning.message(failed)}${reason && `: ${reason}`}`, {
    hint: meaning.hint(failed),
    cause: error,
  });
}

function meaningOf(error: unknown): ErrorExplanation {
  const { name, code, errors, $metadata } = error as Error & {
    code?: string;
    errors?: { code?: string }[];
    $metadata?: { httpStatusCode?: number };
  };
  return (
    MEANINGS[name] ?? MEANINGS[code ?? errors?.[0]?.code ?? ''] ?? BY_STATUS[$metadata?.httpStatusCode ?? 0] ?? failing
  );
}

function reasonOf(error: unknown): string {
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (message && message !== 'UnknownError' && message !== name) return message.replace(/\.$/, '');
  return name in MEANINGS ? '' : (code ?? name);
}
