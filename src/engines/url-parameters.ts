import { nearest } from '../text/nearest.ts';
import { ENGINE_PROFILES } from './list.ts';
import type { EngineProfile, UrlParameter } from './profile.ts';

export const SECRET_PARAMETERS: string[] = ENGINE_PROFILES.flatMap(({ parameters }) => namesOf(parameters, 'secret'));

export function isPublicParameter(name: string): boolean {
  const kinds = ENGINE_PROFILES.flatMap(({ parameters }) =>
    Object.hasOwn(parameters, name) ? [parameters[name]] : [],
  );
  return kinds.length > 0 && !kinds.includes('secret');
}

/** The values of the parameters of a connection URL by name, or why they are refused. */
export type ParsedParameters = { values: Map<string, string>; refused: null } | { values: null; refused: string };

/**
 * Parses what follows the `?` of a connection URL: `name=value` pairs with the names of the engine, each once. Only
 * `writeParameters` writes them.
 */
export function parseParameters(
  text: string,
  { products, parameters }: Pick<EngineProfile, 'products' | 'parameters'>,
): ParsedParameters {
  const values = new Map<string, string>();
  for (const pair of text.split('&').filter((part) => part !== '')) {
    const at = pair.indexOf('=');
    const name = decode(at === -1 ? pair : pair.slice(0, at));
    const raw = at === -1 ? null : pair.slice(at + 1);
    // As libpq: a second = is an error.
    const value = raw === null || raw.includes('=') ? null : decode(raw);
    if (name === null || !Object.hasOwn(parameters, name)) {
      // Behind an unencoded ? in a password, the name would be a part of the password.
      const shown = text.includes('@') ? null : name;
      return refuse(unknownParameter(shown, products, parameters));
    }
    const isMissing = value === '' && parameters[name] === 'route';
    if (value === null || isMissing) return refuse(`parameter ${name} has no valid value`);
    if (values.has(name)) return refuse(`parameter ${name} is given twice`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they end a line of an option file or a word of a shell.
    if (/[\u0000-\u001f\u007f]/.test(value)) return refuse(`parameter ${name} contains a control character`);
    values.set(name, value);
  }
  return { values, refused: null };
}

/** `?name=value&…`, or nothing. */
export function writeParameters(parameters: Record<string, string>): string {
  const pairs = Object.entries(parameters).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  return pairs.length > 0 ? `?${pairs.join('&')}` : '';
}

function refuse(refused: string): ParsedParameters {
  return { values: null, refused };
}

function unknownParameter(
  name: string | null,
  [product]: EngineProfile['products'],
  parameters: EngineProfile['parameters'],
): string {
  const shown = name !== null && /^[A-Za-z][A-Za-z_.-]{0,40}$/.test(name) ? ` ${name}` : '';
  const near = name === null ? null : nearest(name.toLowerCase(), Object.keys(parameters));
  const what = shown === '' ? 'a part of it' : shown.trim();
  return `${what} is not a parameter of ${product}${near === null ? '' : `, did you mean ${near}?`}`;
}

/**
 * Reports whether a password may contain an unencoded `/` or `?`: then an `@` follows the end of `name:text`, which is
 * read as host and port.
 */
export function isAmbiguousUrl(url: string): boolean {
  const [, authority = '', rest = ''] = /^[^:/?#]*:\/\/([^/?#]*)(.*)$/s.exec(url) ?? [];
  return authority.includes(':') && rest.includes('@');
}

/** The percent-decoded text; `null` for an invalid encoding. */
export function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function namesOf(parameters: EngineProfile['parameters'], kind: UrlParameter): string[] {
  return Object.keys(parameters).filter((name) => parameters[name] === kind);
}
