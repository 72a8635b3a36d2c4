import { profile as mysql } from './mysql/profile.ts';
import { profile as postgres } from './postgres/profile.ts';
import type { EngineProfile } from './profile.ts';

/** All engines, the most common first; their code is in registry.ts. */
const PROFILES = { postgres, mysql };

export type EngineId = keyof typeof PROFILES;

export const ENGINE_IDS = Object.keys(PROFILES) as EngineId[];
export const ENGINE_PROFILES: (EngineProfile & { id: EngineId })[] = Object.values(PROFILES);
export const URL_SCHEMES = ENGINE_PROFILES.flatMap(({ schemes }) => schemes);

export function profileOf(id: EngineId): EngineProfile {
  return PROFILES[id];
}

export function profileOfScheme(scheme: string): (EngineProfile & { id: EngineId }) | undefined {
  return ENGINE_PROFILES.find(({ schemes }) => schemes.includes(scheme));
}
