import { UserError } from '../runtime/errors.ts';
import { isLoopback } from '../text/loopback.ts';

export interface RoleRequest {
  profile: string;
  endpoint: string;
  roleArn: string;
  sessionName: string;
  idToken: string;
  signal: AbortSignal;
}

export interface TemporaryCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
  expiration: Date;
}

const TIMEOUT_MS = 15_000;

/**
 * Temporary credentials for an ID token, by an unsigned request:
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
 */
export async function assumeRole(request: RoleRequest): Promise<TemporaryCredentials> {
  const { profile, endpoint, roleArn, sessionName, idToken } = request;
  assertSecureEndpoint(profile, endpoint);
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: roleArn,
    // The service accepts 2 to 64 of these characters.
    RoleSessionName: `tool-${sessionName}`.replaceAll(/[^\w+=,.@-]/g, '-').slice(0, 64),
    WebIdentityToken: idToken,
  });
  let answer: { ok: boolean; status: number; text: string };
  try {
    // A redirect would forward the token.
    const response = await fetch(endpoint, { method: 'POST', body, signal, redirect: 'error' });
    answer = { ok: response.ok, status: response.status, text: await response.text() };
  } catch (error) {
    request.signal.throwIfAborted();
    throw unreachable(profile, { endpoint, cause: error });
  }
  const read = (name: string): string | undefined => new RegExp(`<${name}>([^<]+)</${name}>`).exec(answer.text)?.[1];
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = [
    read('AccessKeyId'),
    read('SecretAccessKey'),
    read('SessionToken'),
    new Date(read('Expiration') ?? Number.NaN),
  ];
  const isWhole = accessKeyId && secretAccessKey && sessionToken && !Number.isNaN(expiration.getTime());
  if (answer.ok && isWhole) return { accessKeyId, secretAccessKey, sessionToken, expiration };
  throw new UserError('role_refused', `Storage profile "${profile}" cannot assume its role_arn with your sign-in`, {
    hint: 'Check that the role trusts the identity provider and its client_id. tool auth status shows who you are.',
    details: [`${answer.status} ${read('Code') ?? 'without credentials'}: ${read('Message') ?? ''}`.trim()],
  });
}

/** The token is usable by anybody who reads it. */
function assertSecureEndpoint(profile: string, endpoint: string): void {
  const { protocol, hostname, origin } = new URL(endpoint);
  if (protocol === 'https:' || isLoopback({ hostname })) return;
  throw new UserError(
    'role_insecure',
    `Storage profile "${profile}" would send your sign-in to ${origin} without encryption`,
    { hint: 'Write sts_endpoint with https://; http:// is for services on this machine only.' },
  );
}

function unreachable(profile: string, { endpoint, cause }: { endpoint: string; cause: unknown }): UserError {
  return new UserError(
    'role_unreachable',
    `Cannot reach ${new URL(endpoint).origin}, where storage profile "${profile}" gets credentials`,
    { hint: 'Check sts_endpoint and the network.', cause },
  );
}
