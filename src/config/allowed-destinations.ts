import type { Draft } from './problems/check-values.ts';

/**
 * Reports whether the owner's `allow_destination_of` names the loaded target. A target's own source is never its
 * destination.
 */
export function isAllowedDestination(
  { targets }: Pick<Draft, 'targets'>,
  { loaded, owner }: { loaded: string; owner: string },
): boolean {
  if (loaded === owner || !targets || !Object.hasOwn(targets, owner)) return false;
  return targets[owner]?.allow_destination_of?.includes(loaded) ?? false;
}
