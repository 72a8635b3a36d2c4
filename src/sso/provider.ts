import type { Configuration as Client } from 'openid-client';
import type { Settings } from '../config/schema/settings.ts';
import { isLoopback } from '../text/loopback.ts';
import { toSignInFailure } from './failures.ts';

export type ProviderSettings = Settings['sso'][string];

export interface ProviderRequest {
  name: string;
  settings: ProviderSettings;
}

type Library = typeof import('openid-client');

export interface Provider {
  name: string;
  settings: ProviderSettings;
  library: Library;
  client: Client;
  /** The requested scopes, of those it supports. */
  scope: string;
}

/** Seconds; less than the time that other processes wait for a refresh. */
const TIMEOUT = 8;

const SCOPES = ['openid', 'profile', 'email', 'groups', 'offline_access'];

/** Discovery. Signatures of ID tokens are verified from then on. */
export async function openProvider({ name, settings }: ProviderRequest): Promise<Provider> {
  const library = await import('openid-client');
  const url = new URL(settings.provider_url);
  const execute = [library.enableNonRepudiationChecks];
  if (isLoopback(url)) execute.push(library.allowInsecureRequests);
  try {
    const options = { execute, timeout: TIMEOUT };
    const client = await library.discovery(url, settings.client_id, undefined, library.None(), options);
    const offered = client.serverMetadata().scopes_supported;
    const scope = SCOPES.filter((one) => one === 'openid' || (offered?.includes(one) ?? one !== 'groups')).join(' ');
    return { name, settings, library, client, scope };
  } catch (thrown) {
    throw toSignInFailure(name, thrown);
  }
}
