import type { EngineId } from '../results.ts';

interface Scheme {
  engine: EngineId;
  /** Where a list of hosts names the port that is meant anyway. */
  defaultPort: RegExp;
}

const POSTGRES: Scheme = { engine: 'postgres', defaultPort: /:5432(?=,|$)/g };

const MYSQL: Scheme = { engine: 'mysql', defaultPort: /:3306(?=,|$)/g };

const SCHEMES = new Map<string, Scheme>([
  ['postgres', POSTGRES],
  ['postgresql', POSTGRES],
  ['pgdocker', POSTGRES],
  ['mysql', MYSQL],
  ['mariadb', MYSQL],
  ['mydocker', MYSQL],
]);

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
  const scheme = schemeOf(url);
  return `${scheme?.engine}://${scheme ? hosts.toLowerCase().replace(scheme.defaultPort, '') : hosts}${rest}`;
}

function schemeOf(url: string): Scheme | undefined {
  return SCHEMES.get(url.slice(0, Math.max(0, url.indexOf('://'))).toLowerCase());
}
