import type { Manifest } from '../../repository/manifest/manifest.ts';
import { filesOf } from '../../repository/repository.ts';
import type { Context } from '../../runtime/context.ts';
import { parseSize } from '../../text/size.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { makerOf } from './saves.ts';

/**
 * The saves of a target that the rules of the configuration do not keep, of those newest first. The rules are for the
 * saves of people, and for those of each agent: none displaces saves of others.
 */
export async function savesBeyondRules(context: Context, given: Manifest[]): Promise<Manifest[]> {
  const beyond: Manifest[] = [];
  for (const saves of Map.groupBy(given, makerOf).values()) beyond.push(...(await beyondRules(context, saves)));
  return beyond;
}

/** Automatic ones go before others. The newest one always stays. */
async function beyondRules(context: Context, given: Manifest[]): Promise<Manifest[]> {
  const [newest, ...older] = given;
  if (!newest) return [];
  const saves = [newest, ...older.filter(({ automatic }) => !automatic), ...older.filter(({ automatic }) => automatic)];
  const { keep, max_size } = context.configuration.settings.saves;
  const most = max_size === undefined ? null : parseSize(max_size);
  if (most === null) return saves.slice(keep);
  const counted = await localRepository(context).referencedByOthers(saves);
  let bytes = 0;
  const first = saves.findIndex((manifest) => {
    for (const { sha256, stored_bytes } of filesOf(manifest)) {
      if (!counted.has(sha256)) bytes += stored_bytes;
      counted.add(sha256);
    }
    return bytes > most;
  });
  return saves.slice(first === -1 ? keep : Math.max(1, Math.min(keep, first)));
}
