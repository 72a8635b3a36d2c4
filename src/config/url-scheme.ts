import type { EngineId } from '../results.ts';

const SCHEMES: Record<string, { engine: EngineId; port: number }> = {
  postgres: { engine: 'postgres', port: 5432 },
  postgresql: { engine: 'postgres', port: 5432 },
  mysql: { engine: 'mysql', port: 3306 },
};

/** The engine that a connection URL is for; `null` when its scheme says none. */
export function engineOfUrl(url: string): EngineId | null {
  return schemeOf(url)?.engine ?? null;
}

export function isConnectionUrl(value: string): boolean {
  return engineOfUrl(value) !== null;
}

/**
 * A URL without what does not tell databases apart: who connects, the spelling of the scheme, a default port. That two
 * names lead to one server is for the engines to find out.
 */
export function databaseOf(url: string): string {
  const [, hosts = '', rest = ''] = /^[^:]*:\/\/(?:[^/?#]*@)?([^/?#]*)(.*)$/s.exec(url) ?? [];
  const { engine = '', port = 0 } = schemeOf(url) ?? {};
  const defaultPort = new RegExp(`:${port}(?=,|$)`, 'g');
  return `${engine}://${hosts.toLowerCase().replace(defaultPort, '')}${rest}`;
}

function schemeOf(url: string): { engine: EngineId; port: number } | null {
  const scheme = /^([a-z]+):\/\//i.exec(url)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(SCHEMES, scheme) ? (SCHEMES[scheme] ?? null) : null;
}
