export interface UrlParts {
  scheme: string;
  user: string;
  hosts: string;
  parameters: [name: string, value: string][];
}

/** `null` for a URL without a scheme, such as one that begins with a variable. */
export function urlParts(url: string): UrlParts | null {
  const [, scheme, user = '', hosts = '', rest = ''] = /^([^:/?#]*):\/\/(?:([^/?#]*)@)?([^/?#]*)(.*)$/s.exec(url) ?? [];
  if (scheme === undefined) return null;
  return { scheme, user, hosts: decoded(hosts), parameters: parametersOf(rest) };
}

/** Service and host of a URL with both and no password: the service's password would go to the host. */
export function serviceElsewhere(url: string): { service: string; host: string } | null {
  const parts = urlParts(url);
  const parameters = new Map(parts?.parameters);
  const service = parameters.get('service');
  const host = parameters.get('hostaddr') ?? parameters.get('host') ?? parts?.hosts ?? '';
  if (!parts || service === undefined || host === '') return null;
  return parts.user.includes(':') || parameters.has('password') ? null : { service, host };
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

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
