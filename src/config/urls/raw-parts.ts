import { isAmbiguousUrl } from '../../engines/url-parameters.ts';
import { decoded } from './url-parts.ts';

/** The parts of a connection URL as they stand in it; empty for those that it does not have. */
export interface RawParts {
  scheme: string;
  host: string;
  port: string;
  user: string;
  password: string;
  database: string;
  /** From the `?` on. */
  rest: string;
}

export type RawPart = Exclude<keyof RawParts, 'rest'>;

const URL_PARTS =
  /^(?<scheme>[a-z][a-z0-9+.-]*):\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^/?#]*))?@)?(?<host>\[[^\]]*\]|[^/?#@]*?)(?::(?<port>[^:/?#,@\]]*))?(?:\/(?<database>[^/?#]*))?(?<rest>[/?#].*)?$/is;

/** `null` for what is no URL, and where the end of its password is unknown. */
export function partsOf(url: string): RawParts | null {
  const found = URL_PARTS.exec(url)?.groups;
  if (!found || isAmbiguousUrl(url)) return null;
  const { scheme = '', host = '', port = '', user = '', password = '', database = '', rest = '' } = found;
  return { scheme: scheme.toLowerCase(), host, port, user, password, database, rest };
}

/** Returns the connection URL in pasted text, such as a line of an environment file: without variable, quotes and blanks. */
export function urlWithin(text: string): string {
  const trimmed = text.trim();
  const start = partsOf(trimmed) ? 0 : trimmed.search(/\b[a-z][a-z0-9+.-]{1,20}:\/\//i);
  if (start <= 0) return trimmed;
  const quote = trimmed[start - 1] ?? '';
  const end = /["'`]/.test(quote) ? trimmed.indexOf(quote, start) : -1;
  const found = trimmed.slice(start, end === -1 ? undefined : end);
  if (end !== -1) return found;
  // A password may have blanks; what follows the URL is a comment, or another statement or variable.
  const login = found.lastIndexOf('@') + 1;
  const blank = found.slice(login).search(/;?\s/);
  return blank === -1 ? found : found.slice(0, login + blank);
}

export function joinParts({ scheme, host, port, user, password, database, rest }: RawParts): string {
  const secret = password === '' ? '' : `:${password}`;
  const login = user === '' && secret === '' ? '' : `${user}${secret}@`;
  return `${scheme}://${login}${host}${port === '' ? '' : `:${port}`}/${database}${rest}`;
}

/** The part as a person types it. */
export function partText(parts: RawParts, part: RawPart): string {
  const text = decoded(parts[part]);
  return part === 'host' ? text.replace(/^\[(.*)\]$/, '$1') : text;
}

/** A template stays as it is. */
export function withPart(parts: RawParts, part: RawPart, text: string): RawParts {
  const written = text.includes('{{') ? text : ENCODED[part](text);
  return { ...parts, [part]: written };
}

const ENCODED: Record<RawPart, (text: string) => string> = {
  scheme: (text) => text,
  // An IPv6 address is in brackets, a list of hosts has commas, and the slashes of a socket's folder are encoded.
  host: (text) => {
    const host = text.replaceAll(/[^\w.,:[\]-]/gu, (sign) => encoded(sign));
    return /:.*:/.test(host) && !/[[,]/.test(host) ? `[${host}]` : host;
  },
  port: encoded,
  user: encoded,
  password: encoded,
  database: encoded,
};

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
