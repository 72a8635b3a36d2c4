/** `local`: the configuration file and this machine alone. `cloud`: storage, sharing and targets of a team besides. */
export type Mode = 'local' | 'cloud';

/** The mode that a configuration works in: a token for the cloud makes the difference. */
export function modeOf({ authtoken }: { authtoken?: unknown }): Mode {
  return authtoken ? 'cloud' : 'local';
}
