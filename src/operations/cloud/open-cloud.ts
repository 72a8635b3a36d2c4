import { type CloudClient, createCloudClient } from '../../cloud/client.ts';
import { githubToken, offersGithubToken, offersJobToken } from '../../cloud/github-token.ts';
import { apiEndpoint } from '../../config/api-endpoint.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { readVersion } from '../../runtime/package-files.ts';
import { currentSession } from '../../sso/current-session.ts';
import { createSessionStore } from '../../sso/session-store.ts';
import { saveAuthtoken } from '../sign-in/save-authtoken.ts';

/** The name of the hub's provider in `sso`. */
export const HUB_PROVIDER = 'hub';

export interface OpenCloud {
  /** For a list that a cache can stand in for. */
  impatient?: boolean;
  /** For a list that local snapshots can stand in for. */
  listing?: boolean;
  /** For a request that its caller repeats. */
  repeated?: boolean;
}

const IMPATIENT = { timeout: 3000, attempts: 1 };
const REPEATED = { attempts: 1 };
const LISTING = { timeout: 10_000, attempts: 3 };
/** For the build of an agent: pauses of 56 s in all, about its lease. */
const LEASED = { attempts: 11 };

/** The hub of the configuration, with its token. Throws with exit 4 when there is none. */
export async function openCloud(
  context: Context,
  { impatient = false, listing = false, repeated = false }: OpenCloud = {},
): Promise<CloudClient> {
  const { configuration, environment, signal } = context;
  const { settings } = configuration;
  const endpoint = apiEndpoint(settings);
  const patience = impatient
    ? IMPATIENT
    : listing
      ? LISTING
      : repeated
        ? REPEATED
        : configuration.published
          ? LEASED
          : {};
  const common = { endpoint, version: readVersion(), signal, ...patience };
  if (settings.authtoken !== undefined) {
    return createCloudClient({ ...common, token: settings.authtoken, renew: () => renewToken(context) });
  }
  if (offersJobToken(environment)) {
    const exchanged = await exchangeJobToken(context);
    return createCloudClient({ ...common, token: exchanged, renew: () => renewToken(context) });
  }
  throw new UserError('cloud_token_missing', 'There is no token for the hub', {
    hint: 'Sign in: tool auth login hub; or set TOOL_AUTHTOKEN to a service token.',
  });
}

export function openCloudUnsigned({ configuration, signal }: Context): CloudClient {
  const endpoint = apiEndpoint(configuration.settings);
  return createCloudClient({ endpoint, token: null, version: readVersion(), signal });
}

/**
 * Exchanges a new ID token, as long as the provider refreshes the sign-in or the job of GitHub Actions runs; `null` for
 * another token. Later requests of this process use the new token as well.
 */
async function renewToken(context: Context): Promise<string | null> {
  const { configuration, environment } = context;
  const { settings } = configuration;
  if (environment.TOOL_AUTHTOKEN) return null;
  const isSignedIn = settings.sso[HUB_PROVIDER] !== undefined && configuration.file !== null;
  if (!isSignedIn) return offersGithubToken(environment) ? exchangeJobToken(context) : null;
  const token = (await exchangeNewToken(context)) ?? (await exchangeNewToken(context));
  if (token !== null) settings.authtoken = token;
  return token;
}

/** `null` also when another process has exchanged the ID token of the session before: the next one is another. */
async function exchangeNewToken(context: Context): Promise<string | null> {
  const { configuration, clock } = context;
  const settings = configuration.settings.sso[HUB_PROVIDER];
  if (!settings) return null;
  const store = createSessionStore(configuration, context);
  const provider = { name: HUB_PROVIDER, settings };
  const session = await currentSession({ provider, store, clock, force: true }).catch(() => null);
  if (session?.id_token == null) return null;
  return await exchangeToken(context, session.id_token, session.access_token).catch((error) => {
    if (error instanceof UserError && error.code === 'cloud_token_refused') return null;
    throw error;
  });
}

/** Exchanges the ID token of a job of GitHub Actions, or of another service, which sets `TOOL_ID_TOKEN` once. */
async function exchangeJobToken(context: Context): Promise<string> {
  const { configuration, environment, signal } = context;
  const client = openCloudUnsigned(context);
  const audience = client.endpoint.replace(/\/api\/v3$/, '');
  const id_token = environment.TOOL_ID_TOKEN || (await githubToken(environment, { audience, signal }));
  const { body } = await client.call('createSession', { body: { id_token } });
  configuration.settings.authtoken = body?.authtoken ?? '';
  return configuration.settings.authtoken;
}

/** Exchanges an ID token for a token of the hub, and stores that as `authtoken`. */
export async function exchangeToken(context: Context, id_token: string, access_token: string): Promise<string> {
  const { body } = await openCloudUnsigned(context).call('createSession', { body: { id_token, access_token } });
  const token = body?.authtoken ?? '';
  await saveAuthtoken(context, { token });
  return token;
}
