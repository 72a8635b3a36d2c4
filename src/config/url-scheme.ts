import type { EngineId } from '../engines/engine.ts';

const ENGINE_OF_SCHEME: Record<string, EngineId> = { postgres: 'postgres', postgresql: 'postgres', mysql: 'mysql' };

/** The engine that a connection URL is for; `null` when its scheme says none. */
export function engineOfUrl(url: string): EngineId | null {
  const scheme = /^([a-z]+):\/\//i.exec(url)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(ENGINE_OF_SCHEME, scheme) ? (ENGINE_OF_SCHEME[scheme] ?? null) : null;
}

export function isConnectionUrl(value: string): boolean {
  return engineOfUrl(value) !== null;
}
