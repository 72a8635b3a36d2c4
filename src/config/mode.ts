/** `local`: configuration file and this machine. `cloud`: also storage, sharing and targets of a team. */
export type Mode = 'local' | 'cloud';

/** A token for the cloud selects cloud mode. */
export function modeOf({ authtoken }: { authtoken?: unknown }): Mode {
  return authtoken ? 'cloud' : 'local';
}
