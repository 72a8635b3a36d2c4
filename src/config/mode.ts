import type { Mode } from '../results/configuration/configuration-results.ts';

export function modeOf({ authtoken }: { authtoken?: unknown }): Mode {
  return authtoken ? 'cloud' : 'local';
}
