import { type EngineId, profileOfScheme } from '../../engines/list.ts';

/** The engine that a connection URL is for; `null` when its scheme says none. */
export function engineOfUrl(url: string): EngineId | null {
  return profileOfUrl(url)?.id ?? null;
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
  const profile = profileOfUrl(url);
  // A list of hosts may name the port that is meant anyway.
  const defaultPort = new RegExp(`:${profile?.defaultPort}(?=,|$)`, 'g');
  return `${profile?.id}://${profile ? hosts.toLowerCase().replace(defaultPort, '') : hosts}${rest}`;
}

function profileOfUrl(url: string) {
  return profileOfScheme(url.slice(0, Math.max(0, url.indexOf('://'))).toLowerCase());
}
