import { createHash } from 'node:crypto';
import type { Effect } from '../../results/configuration/effects.ts';

/** An effect as it is stored and compared: encrypted content as a hash. */
export function storedEffect(effect: Effect): Effect {
  if (!effect.sealed) return effect;
  const hashed = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
  // Of a plain setting the object is the key.
  if (effect.effect !== 'sets') return { ...effect, object: hashed(effect.object) };
  return { ...effect, ...(effect.detail !== undefined && { detail: hashed(effect.detail) }) };
}
