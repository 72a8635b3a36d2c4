import type { Draft } from './check-values.ts';

export interface DestinationPair {
  /** The target that is loaded. */
  loaded: string;
  /** The target whose source the destination is. */
  owner: string;
}

/**
 * Whether the owner's `allow_destination_of` names the loaded target. Only the owner of a source gives it away, and a
 * target's own source is never its destination.
 */
export function isAllowedDestination({ targets }: Pick<Draft, 'targets'>, { loaded, owner }: DestinationPair): boolean {
  if (loaded === owner || !targets || !Object.hasOwn(targets, owner)) return false;
  return targets[owner]?.allow_destination_of?.includes(loaded) ?? false;
}
