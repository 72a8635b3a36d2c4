import { ENGINE_PROFILES, type EngineId } from '../../src/engines/list.ts';

export const ENGINE_NAMES = Object.fromEntries(ENGINE_PROFILES.map(({ id, products }) => [id, products[0]])) as Record<
  EngineId,
  string
>;
