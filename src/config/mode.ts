/** `local`: configuration file and this machine. `cloud`: also storage, sharing and targets of a team. */
export type Mode = 'local' | 'cloud';

export function modeOf({ authtoken }: { authtoken?: unknown }): Mode {
  return authtoken ? 'cloud' : 'local';
}
