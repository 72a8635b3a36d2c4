import type { Mode } from '../results/configuration/configuration-results.ts';
import { hasHubAddress } from './api-endpoint.ts';
import type { Settings } from './schema/settings.ts';

export function modeOf({ authtoken }: { authtoken?: unknown }): Mode {
  return authtoken ? 'cloud' : 'local';
}

/** Reports whether the configuration has a hub, but no token for it. */
export function lacksSignIn(settings: Settings): boolean {
  return modeOf(settings) === 'local' && hasHubAddress(settings);
}
