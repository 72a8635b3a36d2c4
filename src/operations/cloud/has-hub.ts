import { offersJobToken } from '../../cloud/github-token.ts';
import { apiEndpoint } from '../../config/api-endpoint.ts';
import type { Settings } from '../../config/schema/settings.ts';
import type { Context } from '../../runtime/context.ts';

/** Reports whether a hub is configured: its address, and a token or a way to get one. */
export function hasHub({ configuration: { settings }, environment }: Pick<Context, 'configuration' | 'environment'>) {
  return hubAddress(settings) !== null && (settings.authtoken !== undefined || offersJobToken(environment));
}

/** `null` where no address is set. */
export function hubAddress(settings: Settings): string | null {
  try {
    return apiEndpoint(settings);
  } catch {
    return null;
  }
}
