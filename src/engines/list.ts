import { profile as mysql } from './mysql/profile.ts';
import { profile as postgres } from './postgres/profile.ts';
import type { EngineProfile } from './profile.ts';

/** Every engine, the most common first. Its code is in registry.ts. */
const PROFILES = { postgres, mysql };

export type EngineId = keyof typeof PROFILES;

export const ENGINE_IDS = Object.keys(PROFILES) as EngineId[];
export const ENGINE_PROFILES: (EngineProfile & { id: EngineId })[] = Object.values(PROFILES);
export const URL_SCHEMES = ENGINE_PROFILES.flatMap(({ schemes }) => schemes);

export function profileOf(id: EngineId): EngineProfile {
  return PROFILES[id];
}

/** The engine of a connection URL's scheme, which is in lower case and without `://`. */
export function profileOfScheme(scheme: string): (EngineProfile & { id: EngineId }) | undefined {
  return ENGINE_PROFILES.find(({ schemes }) => schemes.includes(scheme));
}
