import { type EngineId, profileOfScheme } from '../../engines/list.ts';
import { isAmbiguousUrl, parseParameters } from '../../engines/url-parameters.ts';

export function engineOfUrl(url: string): EngineId | null {
  return profileOfUrl(url)?.id ?? null;
}

export function isConnectionUrl(value: string): boolean {
  return engineOfUrl(value) !== null;
}

/** Says what of the URL cannot be read; `null` for none. A template may stand for several parameters. */
export function parameterProblem(url: string): string | null {
  const profile = profileOfUrl(url);
  const filled = url.replaceAll(TEMPLATE, STAND_IN);
  if (profile && isAmbiguousUrl(filled))
    return 'an unencoded @ follows a / or ?: write them as %40, %2F and %3F in a password';
  const at = filled.indexOf('?');
  if (!profile || at === -1) return null;
  const pairs = filled.slice(at + 1).split('&');
  const text = pairs.filter((pair) => pair !== STAND_IN).join('&');
  return parseParameters(text.replaceAll(STAND_IN, 'x'), profile).refused;
}

const TEMPLATE = /\{\{[^{}]*\}\}/g;
const STAND_IN = '\0';

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
