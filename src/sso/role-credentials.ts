import type { Configuration } from '../config/configuration.ts';
import type { Settings } from '../config/schema/settings.ts';
import { UserError } from '../runtime/errors.ts';
import type { Report } from '../runtime/events.ts';
import { assumeRole, type TemporaryCredentials } from './assume-role.ts';
import { freshSession } from './fresh-session.ts';
import { personOf } from './session.ts';
import { createSessionStore } from './session-store.ts';

export type RoleCredentials = (profile: string) => Promise<TemporaryCredentials>;

export interface RoleCredentialsOptions {
  configuration: Configuration;
  report: Report;
  environment: NodeJS.ProcessEnv;
  signal: AbortSignal;
  clock: () => Date;
}

/** Milliseconds before expiry at which credentials are renewed: an upload takes a while. */
const AHEAD = 5 * 60_000;

export function createRoleCredentials(options: RoleCredentialsOptions): RoleCredentials {
  const obtained = new Map<string, Promise<TemporaryCredentials>>();
  return async (profile) => {
    const before = await obtained.get(profile);
    if (before && before.expiration.getTime() - AHEAD > options.clock().getTime()) return before;
    const obtaining = obtain(profile, options);
    obtained.set(profile, obtaining);
    obtaining.catch(() => obtained.delete(profile));
    return obtaining;
  };
}

async function obtain(profile: string, options: RoleCredentialsOptions): Promise<TemporaryCredentials> {
  const { configuration, signal, clock } = options;
  const { sso, storage_profiles } = configuration.settings;
  const settings = storage_profiles[profile];
  const store = createSessionStore(configuration, options);
  for (const [name, provider] of Object.entries(sso)) {
    const session = await freshSession({ provider: { name, settings: provider }, store, clock });
    const person = session && personOf(session);
    if (!session?.id_token || !person || !settings?.role_arn) continue;
    const { id_token: idToken } = session;
    const { role_arn: roleArn } = settings;
    return assumeRole({ profile, endpoint: endpointOf(settings), roleArn, sessionName: person.name, idToken, signal });
  }
  throw new UserError(
    'not_signed_in',
    `Storage profile "${profile}" needs a sign-in for its credentials, and nobody is signed in`,
    { hint: 'Sign in: tool auth login' },
  );
}

/** MinIO and Ceph use the endpoint of the buckets. */
function endpointOf({ sts_endpoint, endpoint, region }: Settings['storage_profiles'][string]): string {
  return sts_endpoint ?? endpoint ?? `https://sts.${region ?? 'us-east-1'}.amazonaws.com`;
}
