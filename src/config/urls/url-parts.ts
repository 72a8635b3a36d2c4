export interface UrlParts {
  scheme: string;
  user: string;
  hosts: string;
  /** From the slash on: `/database`. */
  path: string;
  parameters: [name: string, value: string][];
}

/** `null` for a URL without a scheme, such as one that begins with a variable. */
export function urlParts(url: string): UrlParts | null {
  const [, scheme, user = '', hosts = '', rest = ''] = /^([^:/?#]*):\/\/(?:([^/?#]*)@)?([^/?#]*)(.*)$/s.exec(url) ?? [];
  if (scheme === undefined) return null;
  const [path = ''] = rest.split(/[?#]/, 1);
  return { scheme, user, hosts: decoded(hosts), path: decoded(path), parameters: parametersOf(rest) };
}

/**
 * Service and host of a URL with both: the service's password would go to the host, also in place of the URL's own,
 * which programs receive in PGPASSWORD.
 */
export function serviceElsewhere(url: string): { service: string; host: string } | null {
  const parts = urlParts(url);
  const parameters = new Map(parts?.parameters);
  const service = parameters.get('service');
  const host = parameters.get('hostaddr') ?? parameters.get('host') ?? parts?.hosts ?? '';
  return service === undefined || host === '' ? null : { service, host };
}

function parametersOf(rest: string): [string, string][] {
  const at = rest.indexOf('?');
  const parts = at === -1 ? [] : rest.slice(at + 1).split('&');
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', ...value] = part.split('=');
      return [decoded(name), decoded(value.join('='))];
    });
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
