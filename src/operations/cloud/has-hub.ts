import { offersJobToken } from '../../cloud/github-token.ts';
import { apiEndpoint } from '../../config/api-endpoint.ts';
import type { Context } from '../../runtime/context.ts';

/** Reports whether a hub is configured: its address, and a token or a way to get one. */
export function hasHub({ configuration: { settings }, environment }: Pick<Context, 'configuration' | 'environment'>) {
  try {
    return apiEndpoint(settings) !== '' && (settings.authtoken !== undefined || offersJobToken(environment));
  } catch {
    return false;
  }
}
