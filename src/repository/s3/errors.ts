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
  code: ErrorCode;
  message: (failed: FailedRequest) => string;
  hint: (failed: FailedRequest) => string;
  attempts: number;
}

const missingBucket: ErrorExplanation = {
  code: 'bucket_missing',
  message: ({ bucket }) => `Bucket not found: ${bucket}`,
  hint: ({ profile }) => `Create it, or change storage_profiles.${profile}.bucket in the configuration.`,
  attempts: 1,
};

const wrongKeys: ErrorExplanation = {
  code: 'storage_denied',
  message: ({ profile, bucket }) => `${bucket} rejected the credentials of storage profile "${profile}"`,
  hint: ({ profile }) => `Check storage_profiles.${profile}: cli_profile, or access_key and secret_key.`,
  attempts: 1,
};

const noKeys: ErrorExplanation = {
  code: 'storage_credentials_missing',
  message: ({ profile }) => `No credentials for storage profile "${profile}"`,
  hint: ({ profile }) => `Set storage_profiles.${profile}.cli_profile, or log in with the AWS CLI.`,
  attempts: 1,
};

const mayNot: ErrorExplanation = {
  code: 'storage_forbidden',
  message: ({ access, profile, bucket }) =>
    `The credentials of storage profile "${profile}" may not ${access === 'write' ? 'write to' : 'read'} ${bucket}`,
  hint: ({ access }) =>
    access === 'write'
      ? 'They are read-only: allow them to put and delete objects, or use others.'
      : 'Allow them to list the bucket and get objects, or use others.',
  attempts: 1,
};

const clockSkew: ErrorExplanation = {
  code: 'clock_skew',
  message: ({ bucket }) => `${bucket} refuses the request because the clock of this machine is wrong`,
  hint: () => 'Set the clock, to within a few minutes.',
  // The client corrects its clock after the first answer.
  attempts: 2,
};

const full: ErrorExplanation = {
  code: 'storage_full',
  message: ({ bucket }) => `${bucket} is full: its quota is used up`,
  hint: () => 'Remove snapshots (tool prune), or raise the quota.',
  attempts: 1,
};

const wrongRegion: ErrorExplanation = {
  code: 'region_wrong',
  message: ({ bucket }) => `${bucket} is in another region`,
  hint: ({ profile }) => `Set storage_profiles.${profile}.region to the region of the bucket.`,
  attempts: 1,
};

/** An unknown name or a closed port is permanent. */
const noNetwork: ErrorExplanation = {
  code: 'storage_unreachable',
  message: ({ bucket }) => `Cannot reach ${bucket}`,
  hint: ({ profile }) => `Check the network and the endpoint of storage profile "${profile}".`,
  attempts: 3,
};

const failing: ErrorExplanation = { ...noNetwork, message: ({ bucket }) => `${bucket} keeps failing`, attempts: 7 };

/** By the service's error code, which is part of its protocol, or the operating system's. */
const MEANINGS: Record<string, ErrorExplanation> = {
  NoSuchBucket: missingBucket,
  InvalidBucketName: missingBucket,
  InvalidAccessKeyId: wrongKeys,
  SignatureDoesNotMatch: wrongKeys,
  InvalidToken: wrongKeys,
  ExpiredToken: wrongKeys,
  Unauthorized: wrongKeys,
  CredentialsProviderError: noKeys,
  TokenProviderError: noKeys,
  AccessDenied: mayNot,
  AllAccessDisabled: mayNot,
  AccountProblem: mayNot,
  RequestTimeTooSkewed: clockSkew,
  RequestExpired: clockSkew,
  QuotaExceeded: full,
  InsufficientCapacity: full,
  XMinioStorageFull: full,
  XMinioAdminBucketQuotaExceeded: full,
  PermanentRedirect: wrongRegion,
  AuthorizationHeaderMalformed: wrongRegion,
  IllegalLocationConstraintException: wrongRegion,
  TimeoutError: noNetwork,
  NoStorage: noNetwork,
  ENOTFOUND: noNetwork,
  EAI_AGAIN: noNetwork,
  ECONNREFUSED: noNetwork,
  EHOSTUNREACH: noNetwork,
  ENETUNREACH: noNetwork,
  CERT_HAS_EXPIRED: noNetwork,
  DEPTH_ZERO_SELF_SIGNED_CERT: noNetwork,
  SELF_SIGNED_CERT_IN_CHAIN: noNetwork,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: noNetwork,
  ERR_TLS_CERT_ALTNAME_INVALID: noNetwork,
};

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
  if (error instanceof UserError) return PASSING.includes(error.code) ? noNetwork.attempts : 1;
  return isMissing(error) || error instanceof TooLarge ? 1 : meaningOf(error).attempts;
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
