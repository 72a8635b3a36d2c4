import { type EngineId, profileOfScheme } from '../../engines/list.ts';

export function engineOfUrl(url: string): EngineId | null {
  return profileOfUrl(url)?.id ?? null;
}

export function isConnectionUrl(value: string): boolean {
  return engineOfUrl(value) !== null;
}

/**
 * A URL reduced to what identifies the database: without user, spelling of the scheme and default port. The engines
 * find out whether two names are one server.
 */
export function databaseOf(url: string): string {
  const [, hosts = '', rest = ''] = /^[^:]*:\/\/(?:[^/?#]*@)?([^/?#]*)(.*)$/s.exec(url) ?? [];
  const profile = profileOfUrl(url);
  // A list of hosts may contain the default port explicitly.
  const defaultPort = new RegExp(`:${profile?.defaultPort}(?=,|$)`, 'g');
  return `${profile?.id}://${profile ? hosts.toLowerCase().replace(defaultPort, '') : hosts}${rest}`;
}

function profileOfUrl(url: string) {
  return profileOfScheme(url.slice(0, Math.max(0, url.indexOf('://'))).toLowerCase());
}
